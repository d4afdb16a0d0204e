//! Messages on a stream: a header with the length, an empty line, JSON.

use std::io::{self, BufRead, Write};

use serde_json::Value;

/// A message that is longer is not one that an editor sends.
const LONGEST: usize = 256 << 20;

/// The next message; `None` at the end of the stream.
pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length.filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a message without a length"))?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    // A message that is not JSON is nobody's; the next one begins where its header says.
    Ok(Some(serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}

pub(crate) fn write(to: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_can_be_read() {
        let (first, second) = (json!({"id": 1, "text": "µ"}), json!({"id": 2}));
        let mut bytes = Vec::new();
        write(&mut bytes, &first).unwrap();
        write(&mut bytes, &second).unwrap();
        let mut stream = bytes.as_slice();
        assert_eq!(read(&mut stream).unwrap(), Some(first));
        assert_eq!(read(&mut stream).unwrap(), Some(second));
        assert_eq!(read(&mut stream).unwrap(), None);
    }

    #[test]
    fn broken_messages_do_not_end_the_stream() {
        let mut stream = &b"Content-Length: 3\r\nOther: x\r\n\r\n{x}content-length: 2\r\n\r\n{}"[..];
        assert_eq!(read(&mut stream).unwrap(), Some(Value::Null));
        assert_eq!(read(&mut stream).unwrap(), Some(json!({})));
        assert!(read(&mut &b"Content-Length: 99999999999999\r\n\r\n"[..]).is_err());
        assert!(read(&mut &b"Content-Length: 10\r\n\r\n{}"[..]).is_err());
    }
}
