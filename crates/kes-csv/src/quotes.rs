//! Quotes that are left open.

/// The state of the reader within a field.
enum State {
    /// At its beginning.
    Start,
    /// Outside of quotes; a quote here is a character like any other.
    Plain,
    /// Within quotes.
    Quoted,
    /// After a quote within quotes: the second of a pair follows, or the field ends.
    Closing,
}

/// The place of a quote that opens a field and is never closed, if there is one in some records.
///
/// A field that runs over a line end, and whose closing quote is followed by more text, was never closed: the quote
/// found there opens a later field.
pub fn left_open(bytes: impl Iterator<Item = u8>, delimiter: u8, quote: u8) -> Option<usize> {
    let (mut state, mut opened, mut lines) = (State::Start, 0, 0);
    for (place, byte) in bytes.enumerate() {
        let is_line_end = byte == b'\n' || byte == b'\r';
        state = match state {
            State::Quoted if byte == quote => State::Closing,
            State::Quoted => {
                lines += usize::from(is_line_end);
                State::Quoted
            }
            State::Closing if byte == quote => State::Quoted,
            _ if byte == delimiter || is_line_end => State::Start,
            State::Closing if lines > 0 => return Some(opened),
            State::Start if byte == quote => {
                (opened, lines) = (place, 0);
                State::Quoted
            }
            _ => State::Plain,
        };
    }
    matches!(state, State::Quoted).then_some(opened)
}

#[cfg(test)]
mod tests {
    use super::left_open;

    fn found(text: &str) -> Option<usize> {
        left_open(text.bytes(), b',', b'"')
    }

    #[test]
    fn closed_fields_are_fine() {
        for text in [
            "",
            "a,b\n",
            "\"a\",\"b\"\n",
            "\"a\nb\",c",
            "\"a\"\"\nb\"\r\n",
            "5\" pipe,6\"",
            "\"a\"b,c",
            "\"\",\"\"",
        ] {
            assert_eq!(found(text), None, "{text:?}");
        }
    }

    #[test]
    fn open_ones_are_found_where_they_begin() {
        assert_eq!(found("a,\"b"), Some(2));
        assert_eq!(found("a,\"b\"\"\n"), Some(2));
        assert_eq!(found("a,\"b\nc,\"d\"\n"), Some(2));
        assert_eq!(found("\"a\nb\",\"c\nd,\"e\"\n"), Some(6));
    }
}
