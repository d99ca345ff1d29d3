//! A file that comes in blocks; those that are still needed to find the line of an error are kept.

use std::collections::VecDeque;
use std::io::{self, Read};

/// A block of a file.
struct Block {
    /// Its place in the file.
    start: usize,
    /// Lines that end before it.
    lines: usize,
    /// Whether it follows a carriage return.
    after_return: bool,
    bytes: Vec<u8>,
}

impl Block {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }

    /// The number of lines that end within the first `bytes` bytes; `\n`, `\r\n` and a lone `\r` end one.
    fn lines_within(&self, bytes: usize) -> usize {
        let part = &self.bytes[..bytes];
        let count = |end: u8| part.iter().filter(|&&byte| byte == end).count();
        let (feeds, returns) = (count(b'\n'), count(b'\r'));
        let within = || part.windows(2).filter(|&pair| pair == b"\r\n").count();
        let pairs = usize::from(self.after_return && part.first() == Some(&b'\n'));
        feeds + returns - pairs - if returns == 0 { 0 } else { within() }
    }
}

/// Blocks of bytes.
pub type Source<'s> = Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send + 's>;

/// The blocks of a source as one stream of bytes.
pub struct Blocks<'s> {
    source: Source<'s>,
    kept: VecDeque<Block>,
    /// Number of bytes read so far.
    read: usize,
}

impl<'s> Blocks<'s> {
    /// Reads nothing yet.
    pub fn new(source: Source<'s>) -> Self {
        Self { source, kept: VecDeque::new(), read: 0 }
    }

    /// Fetches the next block. False at the end of the file.
    fn fetch(&mut self) -> io::Result<bool> {
        let Some(bytes) = self.source.next().transpose()? else { return Ok(false) };
        let (start, lines, after_return) = self.kept.back().map_or((self.read, 0, false), |last| {
            let lines = last.lines + last.lines_within(last.bytes.len());
            let ends_in_return = last.bytes.last().map_or(last.after_return, |&byte| byte == b'\r');
            (last.end(), lines, ends_in_return)
        });
        self.kept.push_back(Block { start, lines, after_return, bytes });
        Ok(true)
    }

    /// Drops the blocks before a byte, except the latest.
    pub fn forget_before(&mut self, byte: usize) {
        while self.kept.len() > 1 && self.kept[0].end() <= byte.min(self.read) {
            self.kept.pop_front();
        }
    }

    /// The line, from 1, of the record at a byte. Line ends at that byte are skipped: the reader points at the blank
    /// lines before a record.
    pub fn line(&self, byte: usize) -> usize {
        let blank = self.rest(byte).take_while(|byte| b"\r\n".contains(byte)).count();
        let found = self.kept.iter().rev().find(|block| block.start <= byte + blank);
        found.map_or(1, |block| 1 + block.lines + block.lines_within(byte + blank - block.start))
    }

    /// The bytes from a byte on, as far as the file was read.
    pub fn rest(&self, byte: usize) -> impl Iterator<Item = &u8> {
        self.kept
            .iter()
            .flat_map(move |block| &block.bytes[byte.saturating_sub(block.start).min(block.bytes.len())..])
    }
}

impl Read for Blocks<'_> {
    /// Fills the whole buffer unless the file ends, so that the reader sees a byte order mark as a whole.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if let Some(block) = self.kept.iter().find(|block| block.end() > self.read) {
                let mut rest = &block.bytes[self.read - block.start..];
                let read = rest.read(&mut buffer[filled..])?;
                self.read += read;
                filled += read;
            } else if !self.fetch()? {
                break;
            }
        }
        Ok(filled)
    }
}
