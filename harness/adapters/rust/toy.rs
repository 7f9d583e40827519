//! A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
//!
//! A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
//! nothing, sends neither sync nor ephemeral messages, and repairs nothing.

use std::collections::{BTreeSet, HashSet, VecDeque};

/// Message IDs in a causal history.
pub const HISTORY: usize = 2;
/// Size of the bloom filter: about one false positive in a hundred.
pub const FILTER_IDS: usize = 100;
const FILTER_BITS: u64 = 1024;
const FILTER_HASHES: u64 = 7;
/// Wire types of protobuf.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const SIZED: u64 = 2;
const FIXED32: u64 = 5;

/// The error for bytes that are not a message, and for empty content to send.
pub struct Refused(pub &'static str);

/// A message of a channel. Without a timestamp it is ephemeral, without content a sync message.
#[derive(Default)]
pub struct Message {
    pub sender: String,
    pub id: String,
    pub channel: String,
    pub lamport: Option<u64>,
    pub history: Vec<String>,
    pub bloom: Vec<u8>,
    pub content: Vec<u8>,
}

// ---- The wire: protobuf by hand --------------------------------------------------------------------------------

fn add_varint(wire: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        wire.push(number as u8 | 0x80);
        number >>= 7;
    }
    wire.push(number as u8);
}

/// Adds a field with a length prefix.
fn add_sized(wire: &mut Vec<u8>, number: u64, value: &[u8]) {
    add_varint(wire, number << 3 | SIZED);
    add_varint(wire, value.len() as u64);
    wire.extend_from_slice(value);
}

fn encode(message: &Message) -> Vec<u8> {
    let mut wire = Vec::new();
    for (number, text) in [(1, &message.sender), (2, &message.id), (3, &message.channel)] {
        add_sized(&mut wire, number, text.as_bytes());
    }
    if let Some(lamport) = message.lamport {
        add_varint(&mut wire, 10 << 3 | VARINT);
        add_varint(&mut wire, lamport);
    }
    for id in &message.history {
        let mut entry = Vec::new();
        add_sized(&mut entry, 1, id.as_bytes());
        add_sized(&mut wire, 11, &entry);
    }
    add_sized(&mut wire, 12, &message.bloom);
    add_sized(&mut wire, 20, &message.content);
    wire
}

/// Removes and returns the number at the beginning of `wire`.
fn take_varint(wire: &mut &[u8]) -> Result<u64, Refused> {
    let mut number = 0;
    for (index, byte) in wire.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            *wire = &wire[index + 1..];
            return Ok(number);
        }
    }
    Err(Refused("a varint does not end"))
}

/// The key of a field (number << 3 | wire type), and its number or its bytes.
type Field<'a> = (u64, u64, &'a [u8]);

fn fields(mut wire: &[u8]) -> Result<Vec<Field<'_>>, Refused> {
    let mut out = Vec::new();
    while !wire.is_empty() {
        let key = take_varint(&mut wire)?;
        let number = if matches!(key & 7, VARINT | SIZED) { take_varint(&mut wire)? } else { 0 };
        let size = match key & 7 {
            VARINT => 0,
            FIXED64 => 8,
            SIZED => number,
            FIXED32 => 4,
            _ => return Err(Refused("a field of an unknown type")),
        };
        if key >> 3 == 0 || size > wire.len() as u64 {
            return Err(Refused("a field has no number, or is cut off"));
        }
        let (value, rest) = wire.split_at(size as usize);
        out.push((key, number, value));
        wire = rest;
    }
    Ok(out)
}

fn text(bytes: &[u8]) -> Result<String, Refused> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Refused("text that is not UTF-8"))
}

/// The message in these bytes. Unknown fields are skipped, including those of SDS-R.
pub fn decode(wire: &[u8]) -> Result<Message, Refused> {
    const SENDER: u64 = 1 << 3 | SIZED;
    const ID: u64 = 2 << 3 | SIZED;
    const CHANNEL: u64 = 3 << 3 | SIZED;
    const LAMPORT: u64 = 10 << 3 | VARINT;
    const ENTRY: u64 = 11 << 3 | SIZED;
    const CONTENT: u64 = 20 << 3 | SIZED;
    let mut message = Message::default();
    for (key, number, value) in fields(wire)? {
        match key {
            SENDER => message.sender = text(value)?,
            ID => message.id = text(value)?,
            CHANNEL => message.channel = text(value)?,
            LAMPORT => message.lamport = Some(number),
            ENTRY => {
                let mut id = String::new();
                for (_, _, value) in fields(value)?.into_iter().filter(|field| field.0 == 1 << 3 | SIZED) {
                    id = text(value)?;
                }
                message.history.push(id);
            }
            CONTENT => message.content = value.to_vec(),
            _ => {}
        }
    }
    Ok(message)
}

// ---- The protocol ----------------------------------------------------------------------------------------------

/// The state of one participant in one channel.
pub struct Channel {
    participant: String,
    id: String,
    clock: u64,                   // The Lamport timestamp.
    log: BTreeSet<(u64, String)>, // By timestamp, equal timestamps by the bytes of IDs.
    logged: HashSet<String>,
    waiting: Vec<Message>,      // Received, with dependencies that are not in the log.
    received: VecDeque<String>, // What the filter holds: the newest IDs, so it never fills.
}

impl Channel {
    pub fn new(participant: &str, id: &str, now_ms: u64) -> Channel {
        Channel {
            participant: participant.to_string(),
            id: id.to_string(),
            clock: now_ms,
            log: BTreeSet::new(),
            logged: HashSet::new(),
            waiting: Vec::new(),
            received: VecDeque::new(),
        }
    }

    /// The ID and the bytes of a new message.
    pub fn send(&mut self, content: Vec<u8>, now_ms: u64) -> Result<(String, Vec<u8>), Refused> {
        if content.is_empty() {
            return Err(Refused("there is no content"));
        }
        let next = self.clock.checked_add(1).ok_or(Refused("the Lamport timestamp has reached its maximum"))?;
        let lamport = next.max(now_ms);
        // The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and
        // channels.
        let mut who = Vec::new();
        add_sized(&mut who, 1, self.participant.as_bytes());
        add_sized(&mut who, 3, self.id.as_bytes());
        add_sized(&mut who, 20, &content);
        let mut history: Vec<String> = self.log.iter().rev().take(HISTORY).map(|(_, id)| id.clone()).collect();
        history.reverse();
        let message = Message {
            sender: self.participant.clone(),
            id: format!("{:x}-{:016x}", lamport, fnv(&who)),
            channel: self.id.clone(),
            lamport: Some(lamport),
            history,
            bloom: self.bloom(),
            content,
        };
        self.keep(lamport, &message.id);
        let wire = encode(&message);
        Ok((message.id, wire))
    }

    /// Returns the messages that are delivered now, in order.
    pub fn receive(&mut self, message: Message) -> Result<Vec<Message>, Refused> {
        if message.sender == self.participant || message.content.is_empty() {
            return Ok(Vec::new()); // One's own; or a sync message, which speaks of acknowledgements and repairs alone.
        }
        if message.lamport.is_none() {
            return Ok(vec![message]);
        }
        if message.id.is_empty() {
            return Err(Refused("a message without an ID"));
        }
        if self.logged.contains(&message.id) || self.waiting.iter().any(|other| other.id == message.id) {
            return Ok(Vec::new());
        }
        self.received.push_back(message.id.clone());
        if self.received.len() > FILTER_IDS {
            self.received.pop_front();
        }
        self.waiting.push(message);
        let mut delivered = Vec::new();
        while let Some(place) = self.waiting.iter().position(|m| m.history.iter().all(|id| self.logged.contains(id))) {
            let ready = self.waiting.remove(place);
            self.keep(ready.lamport.unwrap_or(0), &ready.id);
            delivered.push(ready);
        }
        Ok(delivered)
    }

    /// Puts an ID into the log, and updates the clock.
    fn keep(&mut self, lamport: u64, id: &str) {
        self.clock = self.clock.max(lamport);
        self.log.insert((lamport, id.to_string()));
        self.logged.insert(id.to_string());
    }

    /// A filter over the newest IDs that were received.
    fn bloom(&self) -> Vec<u8> {
        let mut bits = vec![0; (FILTER_BITS / 8) as usize];
        for id in &self.received {
            let hash = fnv(id.as_bytes());
            for n in 0..FILTER_HASHES {
                let place = ((hash >> 32) + n * (hash & 0xffff_ffff)) % FILTER_BITS;
                bits[(place / 8) as usize] |= 1u8 << (place % 8);
            }
        }
        bits
    }
}

/// FNV-1a with 64 bits, which is good enough for a toy.
fn fnv(data: &[u8]) -> u64 {
    let mix = |out: u64, byte: &u8| (out ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    data.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
