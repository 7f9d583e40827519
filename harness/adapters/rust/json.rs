//! Values of ProtoJSON, read and written. Part of the kit: do not change it.
//!
//! In ProtoJSON, 64-bit numbers are strings, bytes are base64, and a field with its default value may be absent. So
//! `text`, `number` and similar methods return empty or 0 for an absent field, and `Json::from` makes a string of a u64
//! and of bytes.

use std::fmt::Write;

const DEPTH: usize = 64; // Requests have five levels.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A value of JSON. A number is kept as its characters in the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// An error in a text or a value.
type Fault = String;

impl Json {
    /// An object with these fields.
    pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// A list of values.
    pub fn list<T: Into<Json>>(values: impl IntoIterator<Item = T>) -> Json {
        Json::List(values.into_iter().map(Into::into).collect())
    }

    /// A field of an object; None if it is absent or null.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
        .filter(|value| **value != Json::Null)
    }

    /// A field of type string.
    pub fn text(&self, name: &str) -> Result<String, Fault> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(value) => value.as_text().ok_or_else(|| format!("{name} is no text")),
        }
    }

    /// A field of type uint32 or uint64.
    pub fn number(&self, name: &str) -> Result<u64, Fault> {
        match self.get(name) {
            None => Ok(0),
            Some(Json::Text(digits) | Json::Number(digits)) => {
                digits.parse().map_err(|_| format!("{name} is no number from 0 to 2^64-1: {digits}"))
            }
            Some(_) => Err(format!("{name} is no number")),
        }
    }

    /// A field of type int32.
    pub fn integer(&self, name: &str) -> Result<i32, Fault> {
        match self.get(name) {
            None => Ok(0),
            Some(Json::Text(digits) | Json::Number(digits)) => {
                digits.parse().map_err(|_| format!("{name} is not a number from -2^31 to 2^31-1: {digits}"))
            }
            Some(_) => Err(format!("{name} is not a number")),
        }
    }

    /// A field of type bytes.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, Fault> {
        from_base64(&self.text(name)?).ok_or_else(|| format!("{name} is no base64"))
    }

    /// A field that is repeated.
    pub fn values(&self, name: &str) -> Result<&[Json], Fault> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Json::List(values)) => Ok(values),
            Some(_) => Err(format!("{name} is no list")),
        }
    }

    /// A field of repeated strings.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Fault> {
        let text = |value: &Json| value.as_text().ok_or_else(|| format!("{name} is no list of texts"));
        self.values(name)?.iter().map(text).collect()
    }

    fn as_text(&self) -> Option<String> {
        match self {
            Json::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Parses a text.
    pub fn parse(text: &str) -> Result<Json, Fault> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => Err(format!("more than one value, from byte {} on", reader.at)),
        }
    }

    /// The text of the value, without spaces.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(text) => write_text(text, out),
            Json::List(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    value.write(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}
impl From<&String> for Json {
    fn from(text: &String) -> Json {
        Json::Text(text.clone())
    }
}
impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Text(number.to_string())
    }
}
impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Number(number.to_string())
    }
}
impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Number(number.to_string())
    }
}
impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}
impl From<&[u8]> for Json {
    fn from(bytes: &[u8]) -> Json {
        Json::Text(to_base64(bytes))
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(place) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        out.push_str(&rest[..place]);
        write!(out, "\\u{:04x}", rest.as_bytes()[place]).expect("a String has room");
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is not a space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn skip(&mut self, expected: u8) -> bool {
        let there = self.peek() == Some(expected);
        self.at += usize::from(there);
        there
    }

    fn fault<T>(&self) -> Result<T, Fault> {
        Err(format!("no JSON at byte {}", self.at))
    }

    fn value(&mut self, depth: usize) -> Result<Json, Fault> {
        if depth > DEPTH {
            return Err("nested too deep".to_string());
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => {
                let rest = &self.text[self.at..];
                let end =
                    rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
                rest[..end].parse::<f64>().or_else(|_| self.fault())?;
                self.at += end;
                Ok(Json::Number(rest[..end].to_string()))
            }
            _ => {
                for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.fault()
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Fault> {
        let mut fields = Vec::new();
        self.at += 1;
        while !self.skip(b'}') {
            if !fields.is_empty() && !self.skip(b',') || self.peek() != Some(b'"') {
                return self.fault();
            }
            let name = self.string()?;
            if !self.skip(b':') {
                return self.fault();
            }
            fields.push((name, self.value(depth + 1)?));
        }
        Ok(Json::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Json, Fault> {
        let mut values = Vec::new();
        self.at += 1;
        while !self.skip(b']') {
            if !values.is_empty() && !self.skip(b',') {
                return self.fault();
            }
            values.push(self.value(depth + 1)?);
        }
        Ok(Json::List(values))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c < ' ' || c == '"' || c == '\\').unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            match rest.as_bytes().get(plain) {
                Some(b'"') => return Ok(out),
                Some(b'\\') => out.push(self.escape()?),
                _ => return self.fault(),
            }
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let letter = self.text.as_bytes().get(self.at).copied();
        self.at += 1;
        Ok(match letter {
            Some(letter @ (b'"' | b'\\' | b'/')) => letter.into(),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.unit()?;
                let mut point = unit;
                if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with("\\u") {
                    let before = self.at;
                    self.at += 2;
                    match self.unit()? {
                        low @ 0xdc00..=0xdfff => point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                        _ => self.at = before,
                    }
                }
                // Half of a surrogate pair becomes U+FFFD.
                char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return self.fault(),
        })
    }

    /// The four hexadecimal digits of a UTF-16 code unit.
    fn unit(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.map_or_else(|| self.fault(), Ok)
    }
}

fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = BASE64[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= three.len() { letter.into() } else { '=' });
        }
    }
    out
}

/// Base64 with or without padding, in either alphabet.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(letters.len() / 4 * 3 + 3);
    for four in letters.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for letter in four {
            bits = bits << 6 | value_of(*letter)?;
        }
        if four.len() == 1 {
            return None;
        }
        let whole = (bits << (6 * (4 - four.len()))).to_be_bytes();
        out.extend_from_slice(&whole[1..four.len()]);
    }
    Some(out)
}

fn value_of(letter: u8) -> Option<u32> {
    Some(
        match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        }
        .into(),
    )
}
