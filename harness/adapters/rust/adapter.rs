//! Your adapter: passes each command to the implementation, and returns the result. As delivered, the implementation is
//! a toy.

mod json;
mod kit;
mod toy;

use std::collections::HashMap;
use std::process::ExitCode;

use json::Json;
use kit::{event, serve, Answer, Effects, Implementation, Refusal};
use toy::{decode, Channel, Refused, FILTER_IDS, HISTORY};

struct Adapter;

/// The channels of a participant, by ID.
type Participant = HashMap<String, Channel>;

impl From<Refused> for Refusal {
    fn from(reason: Refused) -> Refusal {
        Refusal::Rejected(reason.0.to_string())
    }
}

impl Implementation for Adapter {
    type Participant = Participant;

    fn hello(&self, _revision: &str) -> Json {
        Json::object([
            ("name", "toy-sds".into()),
            ("version", "0.1.0".into()),
            ("language", "Rust".into()),
            ("revisions", Json::list(["sds-2026-01"])),
        ])
    }

    fn capabilities(&self) -> &[&str] {
        // Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
        &["CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED"]
    }

    fn open(&mut self, given: &Json) -> Result<(Participant, Json), Refusal> {
        let (participant, now_ms) = (given.text("participantId")?, given.number("nowMs")?);
        let joined = |id: String| (id.clone(), Channel::new(&participant, &id, now_ms));
        let channels = given.texts("channels")?.into_iter().map(joined).collect();
        // The toy has nothing to configure. Still report the configuration in force.
        let in_force = Json::object([
            ("causalHistorySize", (HISTORY as u32).into()),
            ("bloomCapacity", (FILTER_IDS as u32).into()),
            ("bloomErrorRate", 0.01.into()),
            ("sdsR", false.into()),
        ]);
        Ok((channels, in_force))
    }

    fn close(&mut self, _who: Participant, _given: &Json) -> Answer {
        Ok(Effects::default().into())
    }

    fn send(&mut self, who: &mut Participant, given: &Json) -> Answer {
        let channel = who.get_mut(&given.text("channelId")?).ok_or(Refused("not a member of this channel"))?;
        let (message_id, wire) = channel.send(given.bytes("content")?, given.number("nowMs")?)?;
        Ok(Effects { broadcasts: vec![wire], message_id, ..Effects::default() }.into())
    }

    fn receive(&mut self, who: &mut Participant, given: &Json) -> Answer {
        let message = decode(&given.bytes("wire")?)?;
        let mut effects = Effects::default();
        // Messages of other channels are ignored.
        if let Some(channel) = who.get_mut(&message.channel) {
            for m in channel.receive(message)? {
                let delivered = Json::object([("messageId", (&m.id).into()), ("content", m.content.as_slice().into())]);
                effects.events.push(event(&m.channel, "delivered", delivered));
            }
        }
        Ok(effects.into())
    }

    fn tick(&mut self, _who: &mut Participant, _given: &Json) -> Answer {
        Ok(Effects::default().into()) // The toy has no periodic work.
    }
}

fn main() -> ExitCode {
    serve(Adapter)
}
