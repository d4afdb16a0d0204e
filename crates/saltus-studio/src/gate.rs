//! Who may ask: pages that this server has sent, in a browser whose user has the address with the token.
//!
//! Three things are checked, each against another attack: `Host` against names of foreign domains that lead to this machine (DNS
//! rebinding), `Origin` and `Sec-Fetch-Site` against pages of others, the token against other users and programs of this machine.

use crate::http::Request;

/// The header that carries the token. Pages of others cannot send it without asking first, which is refused.
pub const TOKEN_HEADER: &str = "x-saltus-token";

pub struct Gate {
    port: u16,
    token: String,
}

/// A status and why.
pub type Refused = (u16, &'static str);

impl Gate {
    pub fn new(port: u16, token: &str) -> Gate {
        Gate { port, token: token.to_owned() }
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Is the request meant for this server, and not sent by a page of somebody else?
    pub fn check_origin(&self, request: &Request) -> Result<(), Refused> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let is_ours = |host: &str| hosts.iter().any(|ours| ours == host);
        if request.n_headers("host") != 1 || !request.header("host").is_some_and(is_ours) {
            return Err((421, "this server answers for the loopback address only"));
        }
        let is_our_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
        if request.headers.iter().any(|(name, value)| name == "origin" && !is_our_origin(value)) {
            return Err((403, "pages of other origins have no access"));
        }
        Ok(())
    }

    /// Besides, may it ask for or change anything?
    pub fn check_token(&self, request: &Request) -> Result<(), Refused> {
        let is_same_site = |site: &str| site == "same-origin" || site == "none";
        if request.header("sec-fetch-site").is_some_and(|site| !is_same_site(site)) {
            return Err((403, "pages of other origins have no access"));
        }
        match request.header(TOKEN_HEADER) {
            Some(token) if is_equal(token.as_bytes(), self.token.as_bytes()) => Ok(()),
            _ => Err((401, "the token of this server is missing: open the address that `saltus studio` prints")),
        }
    }
}

/// Takes as long for a token that is nearly right as for any other.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// 128 random bits, in hexadecimal.
pub fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Request { headers, ..Request::default() }
    }

    #[test]
    fn only_our_own_pages_ask() {
        let gate = Gate::new(8000, "abc");
        let status = |headers: &[(&str, &str)]| {
            let request = request(headers);
            let checked = gate.check_origin(&request).and_then(|()| gate.check_token(&request));
            checked.map_or_else(|(status, _)| status, |()| 200)
        };
        let ours = ("host", "127.0.0.1:8000");
        let token = (TOKEN_HEADER, "abc");
        assert_eq!(status(&[ours, token]), 200);
        assert_eq!(status(&[ours, token, ("origin", "http://localhost:8000"), ("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(status(&[ours]), 401);
        assert_eq!(status(&[ours, (TOKEN_HEADER, "abd")]), 401);
        assert_eq!(status(&[token]), 421);
        for host in ["evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.evil.example", "[::1]:8000"] {
            assert_eq!(status(&[("host", host), token]), 421, "{host}");
        }
        assert_eq!(status(&[ours, ("host", "evil.example"), token]), 421);
        for origin in ["https://evil.example", "null", "http://127.0.0.1:9000", "https://127.0.0.1:8000", ""] {
            assert_eq!(status(&[ours, token, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(status(&[ours, token, ("sec-fetch-site", "cross-site")]), 403);
    }

    #[test]
    fn tokens_differ() {
        let (a, b) = (random_token().unwrap(), random_token().unwrap());
        assert!(a.len() == 32 && a != b);
    }
}
