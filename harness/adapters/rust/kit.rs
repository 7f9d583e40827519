//! The kit: the testee protocol on stdin and stdout, one JSON object per line. Do not change this file; it needs only
//! Rust 1.63 or newer. Fill in adapter.rs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::io::FromRawFd;
use std::process::ExitCode;

use crate::json::Json;

/// The reason why a command has no result.
pub enum Refusal {
    /// For input that your implementation rejects without a change of its state.
    Rejected(String),
    /// For commands and fields that your implementation does not support.
    Unsupported(String),
    /// Any other failure. A panic is a crash: it ends the process.
    Error(String),
}

impl From<String> for Refusal {
    fn from(fault: String) -> Refusal {
        Refusal::Error(fault)
    }
}

/// The value of an answer, as an object of ProtoJSON.
pub type Answer = Result<Json, Refusal>;

/// Your implementation. `given` has the fields of the command, as testee.proto names them in lowerCamelCase; `Json`
/// reads them. An answer has the fields of its message.
pub trait Implementation {
    /// What `open` makes.
    type Participant;

    /// HelloReply: the name and version of the implementation.
    fn hello(&self, revision: &str) -> Json;
    /// The supported capabilities, for example CAPABILITY_SYNC. Commands that need other capabilities are answered
    /// `unsupported`.
    fn capabilities(&self) -> &[&str];

    /// Makes a participant that is a member of `channels`, and returns the effective configuration.
    fn open(&mut self, given: &Json) -> Result<(Self::Participant, Json), Refusal>;
    /// Frees a participant; returns effects, as the next three methods do.
    fn close(&mut self, who: Self::Participant, given: &Json) -> Answer;
    fn send(&mut self, who: &mut Self::Participant, given: &Json) -> Answer;
    fn receive(&mut self, who: &mut Self::Participant, given: &Json) -> Answer;
    fn tick(&mut self, who: &mut Self::Participant, given: &Json) -> Answer;

    /// Required by CAPABILITY_SYNC; returns effects.
    fn send_sync(&mut self, _who: &mut Self::Participant, _given: &Json) -> Answer {
        missing("send_sync")
    }
    /// Required by CAPABILITY_EPHEMERAL; returns effects.
    fn send_ephemeral(&mut self, _who: &mut Self::Participant, _given: &Json) -> Answer {
        missing("send_ephemeral")
    }
    /// Required by CAPABILITY_OBSERVE; returns a State.
    fn observe(&mut self, _who: &mut Self::Participant, _given: &Json) -> Answer {
        missing("observe")
    }
    /// Required by CAPABILITY_FILTER_CODEC; returns a Filter.
    fn build_filter(&mut self, _given: &Json) -> Answer {
        missing("build_filter")
    }
    /// Required by CAPABILITY_FILTER_CODEC; returns a Membership.
    fn query_filter(&mut self, _given: &Json) -> Answer {
        missing("query_filter")
    }
    /// Required by CAPABILITY_MESSAGE_CODEC; returns Encoded.
    fn encode(&mut self, _given: &Json) -> Answer {
        missing("encode")
    }
    /// Required by CAPABILITY_MESSAGE_CODEC; returns Decoded.
    fn decode(&mut self, _given: &Json) -> Answer {
        missing("decode")
    }
    /// Required by CAPABILITY_REPAIR_TIMES; returns RepairOffsets.
    fn repair_times(&mut self, _given: &Json) -> Answer {
        missing("repair_times")
    }
}

fn missing(method: &str) -> Answer {
    Err(Refusal::Error(format!("its capability is declared, but there is no method {method}")))
}

/// Effects: the broadcasts, and the signals to the application.
#[derive(Default)]
pub struct Effects {
    pub broadcasts: Vec<Vec<u8>>,
    /// Each of `event`.
    pub events: Vec<Json>,
    /// The ID of a message that was sent.
    pub message_id: String,
}

impl From<Effects> for Json {
    fn from(effects: Effects) -> Json {
        Json::object([
            ("broadcasts", Json::list(effects.broadcasts.iter().map(Vec::as_slice))),
            ("events", Json::List(effects.events)),
            ("messageId", Json::from(&effects.message_id)),
        ])
    }
}

/// An event of Effects; `kind` is for example "delivered".
pub fn event(channel_id: &str, kind: &str, value: Json) -> Json {
    Json::object([("channelId", channel_id.into()), (kind, value)])
}

// ---- The loop --------------------------------------------------------------------------------------------------

extern "C" {
    fn dup(fd: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
}

/// Answers every line of stdin until it ends.
pub fn serve<I: Implementation>(mine: I) -> ExitCode {
    if std::env::var_os("SDS_TESTEE_FRAMING").map_or(false, |framing| framing != "json") {
        eprintln!("this adapter speaks JSON lines only");
        return ExitCode::FAILURE;
    }
    // Output that is printed by mistake must not mix with the replies: from here on it goes to stderr.
    // SAFETY: both calls take open file descriptors, and no other code owns the descriptor that `dup` returns.
    let mut replies = unsafe {
        let stdout = dup(1);
        dup2(2, 1);
        File::from_raw_fd(stdout)
    };
    let mut server = Server { mine, participants: HashMap::new(), last: 0 };
    let mut lines = BufReader::with_capacity(1 << 16, std::io::stdin());
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_or(false, |length| length > 0) {
        let mut reply = String::new();
        server.reply(&line).write(&mut reply);
        reply.push('\n');
        if replies.write_all(reply.as_bytes()).is_err() {
            break;
        }
        line.clear();
    }
    ExitCode::SUCCESS
}

struct Server<I: Implementation> {
    mine: I,
    participants: HashMap<u64, I::Participant>,
    last: u64,
}

impl<I: Implementation> Server<I> {
    fn reply(&mut self, line: &[u8]) -> Json {
        let mut id = 0;
        let told = |answer, field, text: String| (answer, Json::object([(field, Json::from(&text))]));
        let (name, value) = match self.request(line, &mut id) {
            Ok(answer) => answer,
            Err(Refusal::Rejected(reason)) => told("rejected", "reason", reason),
            Err(Refusal::Unsupported(what)) => told("unsupported", "what", what),
            Err(Refusal::Error(message)) => told("error", "message", message),
        };
        Json::object([("id", id.into()), (name, value)])
    }

    /// The name and the value of the answer to a line. `id` is set as soon as it is known.
    fn request(&mut self, line: &[u8], id: &mut u64) -> Result<(&'static str, Json), Refusal> {
        let text = std::str::from_utf8(line).map_err(|fault| format!("not a request: {fault}"))?;
        let request = Json::parse(text).map_err(|fault| format!("not a request: {fault}"))?;
        *id = request.number("id")?;
        let fields = match &request {
            Json::Object(fields) => fields,
            _ => return Err("not a request: no object".to_string().into()),
        };
        let mut commands = fields.iter().filter(|(name, _)| name != "id");
        let (name, given) = commands.next().ok_or_else(|| Refusal::Unsupported("no command".to_string()))?;
        if commands.next().is_some() {
            return Err("more than one command in a request".to_string().into());
        }
        let known = COMMANDS.iter().find(|command| command.name == name);
        let command = known.ok_or_else(|| Refusal::Unsupported(name.clone()))?;
        self.check(command, given)?;
        Ok((command.answer, self.answer(name, given)?))
    }

    /// Ends the command if it has an unknown field, or a field that needs an undeclared capability.
    fn check(&self, command: &Command, given: &Json) -> Result<(), Refusal> {
        let fields = match given {
            Json::Object(fields) => fields,
            _ => return Err(format!("the fields of {} are not an object", command.name).into()),
        };
        self.need(command.capability)?;
        for (name, value) in fields.iter().filter(|_| command.name != "hello") {
            let mut known = command.fields.split(' ').map(|field| field.split_once(':').unwrap_or((field, "")));
            let field = known.find(|(field, _)| field == name);
            let (_, capability) = field.ok_or_else(|| Refusal::Unsupported(format!("field {name}")))?;
            if *value != Json::Null && (name != "messageId" || *value != Json::from("")) {
                self.need(capability)?;
            }
        }
        if command.name == "open" {
            let channels = given.values("channels")?.len();
            self.need(["UNNAMED_CHANNEL", "", "CHANNELS"][channels.min(2)])?;
        }
        Ok(())
    }

    /// Is a capability with this prefix declared?
    fn need(&self, capability: &str) -> Result<(), Refusal> {
        let named = |declared: &&str| declared.trim_start_matches("CAPABILITY_").starts_with(capability);
        if capability.is_empty() || self.mine.capabilities().iter().any(named) {
            return Ok(());
        }
        Err(Refusal::Unsupported(capability.to_string()))
    }

    fn answer(&mut self, name: &str, given: &Json) -> Answer {
        match name {
            "hello" => return self.hello(given),
            "open" => return self.open(given),
            "buildFilter" => return self.mine.build_filter(given),
            "queryFilter" => return self.mine.query_filter(given),
            "encode" => return self.mine.encode(given),
            "decode" => return self.mine.decode(given),
            "repairTimes" => return self.mine.repair_times(given),
            _ => {}
        }
        let handle = given.number("handle")?;
        let unknown = || Refusal::Error(format!("no participant has handle {handle}"));
        if name == "close" {
            let who = self.participants.remove(&handle).ok_or_else(unknown)?;
            return self.mine.close(who, given);
        }
        let who = self.participants.get_mut(&handle).ok_or_else(unknown)?;
        match name {
            "send" => self.mine.send(who, given),
            "sendEphemeral" => self.mine.send_ephemeral(who, given),
            "sendSync" => self.mine.send_sync(who, given),
            "receive" => self.mine.receive(who, given),
            "tick" => self.mine.tick(who, given),
            "observe" => self.mine.observe(who, given),
            _ => Err(Refusal::Unsupported(name.to_string())),
        }
    }

    fn hello(&mut self, given: &Json) -> Answer {
        let mut reply = self.mine.hello(&given.text("revision")?);
        if let Json::Object(fields) = &mut reply {
            fields.push(("protocolVersion".to_string(), Json::from(1u32)));
            fields.push(("capabilities".to_string(), Json::list(self.mine.capabilities().iter().copied())));
        }
        Ok(reply)
    }

    fn open(&mut self, given: &Json) -> Answer {
        let (participant, in_force) = self.mine.open(given)?;
        self.last += 1;
        self.participants.insert(self.last, participant);
        Ok(Json::object([("handle", self.last.into()), ("configuration", in_force)]))
    }
}

// ---- The commands ----------------------------------------------------------------------------------------------

struct Command {
    name: &'static str,
    answer: &'static str,
    /// The capability that the command needs, without the prefix CAPABILITY_.
    capability: &'static str,
    /// The names of the fields. A name may have a suffix: a colon and the capability that the command needs if the
    /// field is set.
    fields: &'static str,
}

const fn command(name: &'static str, answer: &'static str, capability: &'static str, fields: &'static str) -> Command {
    Command { name, answer, capability, fields }
}

const COMMANDS: &[Command] = &[
    command("hello", "hello", "", ""),
    command("open", "opened", "", "nowMs participantId channels configuration"),
    command("close", "effects", "", "nowMs handle"),
    command("send", "effects", "", "nowMs handle channelId content messageId:MESSAGE_ID retrievalHint:RETRIEVAL_HINTS"),
    command("sendEphemeral", "effects", "EPHEMERAL", "nowMs handle channelId content messageId:MESSAGE_ID"),
    command("sendSync", "effects", "SYNC", "nowMs handle channelId"),
    command("receive", "effects", "", "nowMs handle wire retrievalHint:RETRIEVAL_HINTS"),
    command("tick", "effects", "", "nowMs handle"),
    command("observe", "state", "OBSERVE", "nowMs handle channelId filterIds"),
    command(
        "buildFilter",
        "filter",
        "FILTER_CODEC",
        "messageIds bloomCapacity:FILTER_SIZES bloomErrorRate:FILTER_SIZES",
    ),
    command(
        "queryFilter",
        "membership",
        "FILTER_CODEC",
        "bloomFilter messageIds bloomCapacity:FILTER_SIZES bloomErrorRate:FILTER_SIZES",
    ),
    command("encode", "encoded", "MESSAGE_CODEC", "message"),
    command("decode", "decoded", "MESSAGE_CODEC", "wire"),
    command(
        "repairTimes",
        "repairOffsets",
        "REPAIR_TIMES",
        "nowMs participantId messageId senderId tMinMs tMaxMs numResponseGroups",
    ),
];
