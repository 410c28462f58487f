import Glibc
import System
import Testing

/// The names of instances, and their folders.
struct InstanceTests {
    @Test(arguments: ["kitchen", "living-room", "a", "Desk_2", "7", String(repeating: "k", count: 32)])
    func `a plain name is an instance`(_ name: String) {
        let instance = Instance(name)
        #expect(instance?.name == name && instance.unit == "beckon@\(name)" && instance.configuration == name)
        #expect(Instance.named(in: [Instance.variable: name]) == instance)
    }

    @Test(arguments: [
        "", "config", "-a", "_a", "a/b", "..", "a.b", "a b", "k\u{FC}che", "a\n", "a@b", "%i",
        String(repeating: "k", count: 33),
    ])
    func `what could be another path or unit is none`(_ name: String) {
        #expect(Instance(name) == nil && Instance.named(in: [Instance.variable: name]) == nil)
    }

    @Test func `without a name the places are those of before`() {
        let none: Instance? = nil
        #expect(none.unit == "beckon" && none.configuration == "config" && Instance.named(in: [:]) == nil)
    }

    @Test func `the state of an instance lies beside that of the service without a name`() {
        let kitchen = Instance("kitchen")
        func path(_ instance: Instance?, _ variables: [String: String]) -> String? {
            StateFolder.path(of: instance) { variables[$0] }
        }
        #expect(path(kitchen, ["STATE_DIRECTORY": "/var/lib/beckon@kitchen:/x"]) == "/var/lib/beckon@kitchen")
        guard geteuid() != 0 || access(StateFolder.ofService, F_OK) != 0 else { return }
        #expect(path(kitchen, ["XDG_STATE_HOME": "/s"]) == "/s/beckon@kitchen")
        #expect(path(kitchen, ["HOME": "/h"]) == "/h/.local/state/beckon@kitchen")
        #expect(path(nil, ["HOME": "/h"]) == "/h/.local/state/beckon" && path(kitchen, [:]) == nil)
    }
}
