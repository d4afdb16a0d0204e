//! Requests and answers of HTTP/1.1, as much of it as a page on the same machine needs.
//!
//! In: bytes of a connection. Out: a [`Request`] with everything that was sent, and back a [`Response`] or a stream of messages.
//! Sizes are bounded before memory is taken.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Of the first line and all headers.
const MOST_HEADER: u64 = 32 << 10;
/// Texts of documents are the largest bodies.
const MOST_BODY: usize = 32 << 20;

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    /// Without the part behind `?`.
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// How often a header was sent.
    pub fn n_headers(&self, name: &str) -> usize {
        self.headers.iter().filter(|(n, _)| n == name).count()
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl Response {
    pub fn json(status: u16, value: &serde_json::Value) -> Response {
        Response { status, content_type: "application/json", body: value.to_string().into_bytes() }
    }

    pub fn text(status: u16, text: &str) -> Response {
        Response { status, content_type: "text/plain; charset=utf-8", body: text.as_bytes().to_vec() }
    }

    pub fn bytes(content_type: &'static str, body: Vec<u8>) -> Response {
        Response { status: 200, content_type, body }
    }
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unreadable {
    /// The connection ended between two requests, or is broken.
    Closed,
    /// To be answered with this status; the connection ends then.
    Bad(u16, &'static str),
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Self {
        Unreadable::Closed
    }
}

/// The next request of a connection, without its body: who asks is looked at before memory is taken for it.
pub fn read_head(input: &mut BufReader<impl Read>) -> Result<Request, Unreadable> {
    let mut head = input.take(MOST_HEADER);
    let first = line(&mut head)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Unreadable::Bad(400, "expected a request line"));
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Err(Unreadable::Bad(400, "expected a path and HTTP/1.1"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = decode(path).ok_or(Unreadable::Bad(400, "expected UTF-8 in the path"))?;
    let mut request = Request { method: method.to_owned(), path, query: parameters(query), ..Request::default() };
    loop {
        let text = line(&mut head)?;
        if text.is_empty() {
            break;
        }
        let Some((name, value)) = text.split_once(':') else {
            return Err(Unreadable::Bad(400, "expected a header"));
        };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(request)
}

/// Without the line end.
fn line(input: &mut impl BufRead) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    input.read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Err(Unreadable::Closed);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(Unreadable::Bad(431, "the header is too long"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::Bad(400, "expected UTF-8"))
}

pub fn read_body(input: &mut impl BufRead, request: &Request) -> Result<Vec<u8>, Unreadable> {
    if request.header("transfer-encoding").is_some() || request.n_headers("content-length") > 1 {
        return Err(Unreadable::Bad(400, "expected one content-length"));
    }
    let Some(length) = request.header("content-length") else { return Ok(Vec::new()) };
    let length: usize = length.parse().map_err(|_| Unreadable::Bad(400, "expected a content-length"))?;
    if length > MOST_BODY {
        return Err(Unreadable::Bad(413, "the body is too long"));
    }
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(Unreadable::Closed) }
}

fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name)?, decode(&value.replace('+', " "))?))
    };
    pairs.filter_map(pair).collect()
}

/// Text with `%41` for `A`; `None` if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Sent with every answer: nothing is stored, nothing from elsewhere is loaded, no script but our files runs, nobody frames the page.
const HEADERS: &str = "Cache-Control: no-store\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

pub fn write(output: &mut impl Write, response: &Response, is_last: bool) -> io::Result<()> {
    let connection = if is_last { "close" } else { "keep-alive" };
    write!(
        output,
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {connection}\r\n{HEADERS}\r\n",
        response.status,
        reason(response.status),
        response.content_type,
        response.body.len()
    )?;
    output.write_all(&response.body)?;
    output.flush()
}

/// The beginning of a stream of server-sent events, which ends with the connection.
pub fn begin_stream(output: &mut impl Write) -> io::Result<()> {
    write!(output, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{HEADERS}\r\n")?;
    output.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Request, Unreadable> {
        let mut input = BufReader::new(text.as_bytes());
        let request = read_head(&mut input)?;
        Ok(Request { body: read_body(&mut input, &request)?, ..request })
    }

    #[test]
    fn a_request_has_its_parts() {
        let text = "POST /api/run?class=A.B&x=%C3%A4+b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}rest";
        let request = parse(text).unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/api/run"));
        assert_eq!(request.parameter("x"), Some("ä b"));
        assert_eq!((request.header("host"), request.body.as_slice()), (Some("x"), &b"{}"[..]));
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        let status = |text: &str| match parse(text) {
            Err(Unreadable::Bad(status, _)) => status,
            Err(Unreadable::Closed) => 0,
            Ok(_) => 200,
        };
        assert_eq!(status("GET /\r\n\r\n"), 400);
        assert_eq!(status("GET http://other/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), 413);
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"), 0);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(40_000))), 431);
        assert_eq!(status(""), 0);
    }
}
