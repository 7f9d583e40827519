import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Your adapter: passes each command to the implementation, and returns the result. As delivered, the implementation is
 * a toy. */
final class Adapter implements Kit.Implementation<Map<String, Toy>> {
    // A participant: the channels that it joined, by ID.

    @Override
    public Map<String, Object> hello(String revision) {
        List<String> revisions = List.of("sds-2026-01");
        return Json.object("name", "toy-sds", "version", "0.1.0", "language", "Java", "revisions", revisions);
    }

    @Override
    public List<String> capabilities() {
        // Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
        return List.of("CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED");
    }

    @Override
    public Kit.Opened<Map<String, Toy>> open(Json.Fields given) {
        var channels = new HashMap<String, Toy>();
        for (String id : given.texts("channels")) {
            channels.put(id, new Toy(given.text("participantId"), id, given.number("nowMs")));
        }
        // The toy has nothing to configure. Still report the configuration in force.
        var inForce = Json.object("causalHistorySize", Toy.HISTORY, "bloomCapacity", Toy.FILTER_IDS);
        inForce.putAll(Json.object("bloomErrorRate", 0.01, "sdsR", false));
        return new Kit.Opened<>(channels, inForce);
    }

    @Override
    public Map<String, Object> close(Map<String, Toy> who, Json.Fields given) {
        return Json.object();
    }

    @Override
    public Map<String, Object> send(Map<String, Toy> who, Json.Fields given) {
        Toy channel = who.get(given.text("channelId"));
        if (channel == null) {
            throw new Kit.Rejected("not a member of this channel");
        }
        try {
            Toy.Sent sent = channel.send(given.bytes("content"), given.number("nowMs"));
            return Json.object("broadcasts", List.of(sent.wire()), "messageId", sent.id());
        } catch (Toy.Refused reason) {
            throw new Kit.Rejected(reason.getMessage());
        }
    }

    @Override
    public Map<String, Object> receive(Map<String, Toy> who, Json.Fields given) {
        var events = new ArrayList<Object>();
        try {
            Toy.Message message = Toy.decode(given.bytes("wire"));
            Toy channel = who.get(message.channel);
            // Messages of other channels are ignored.
            for (Toy.Message m : channel == null ? List.<Toy.Message>of() : channel.receive(message)) {
                var delivered = Json.object("messageId", m.id, "content", m.content);
                events.add(Json.object("channelId", m.channel, "delivered", delivered));
            }
        } catch (Toy.Refused reason) {
            throw new Kit.Rejected(reason.getMessage());
        }
        return Json.object("events", events);
    }

    @Override
    public Map<String, Object> tick(Map<String, Toy> who, Json.Fields given) {
        return Json.object(); // The toy has no periodic work.
    }

    public static void main(String[] arguments) throws IOException {
        Kit.serve(new Adapter());
    }
}
