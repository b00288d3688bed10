// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct ConsoleOrderTests {
    @Test(
        arguments: [
            ("", .nothing), ("help", .help([])), ("help zones list", .help(["zones", "list"])), ("exit", .exit),
            ("quit", .exit), ("use iCloud.a", .use(container: "iCloud.a", environment: nil)),
            ("use iCloud.a production", .use(container: "iCloud.a", environment: .production)),
            ("context home", .context("home")), ("context list", .command(["context", "list"])),
            ("context show home", .command(["context", "show", "home"])), ("context", .command(["context"])),
            (".timer on", .timer(true)), (".timer off", .timer(false)), (".bail off", .bail(false)),
            (".output json", .output(.json)), ("accounts list", .command(["accounts", "list"])),
            ("tidemark admin accounts list", .command(["accounts", "list"])), ("tidemark admin", .nothing),
            ("admin accounts list", .command(["accounts", "list"])), ("admin help devices", .help(["devices"])),
            ("tidemark serve", .command(["tidemark", "serve"])),
        ] as [(String, ConsoleOrder)])
    func `R-900: a line is the console's own, or a command`(_ text: String, _ order: ConsoleOrder) throws {
        #expect(try ConsoleOrder(ConsoleText(text).words) == order)
    }

    @Test(arguments: [
        "use", "use a b", "use a production more", "exit now", ".timer", ".timer maybe", ".output", ".output xml",
        ".bail 1", ".unknown", "use -x", "use --container production", "use ''", "use 'a b'", "use é",
    ])
    func `R-900: a line of the console with wrong arguments says how it is written`(_ text: String) {
        let failure = #expect(throws: AdminFailure.self) { try ConsoleOrder(ConsoleText(text).words) }
        #expect(failure?.status == .usage)
    }

    @Test(arguments: [("hlep", "help"), ("exti", "exit"), (".timr on", ".timer"), ("contxt dev", "context")])
    func `R-834: a mistyped word of the console names the one that is meant`(_ text: String, _ word: String) {
        let failure = #expect(throws: AdminFailure.self) { try ConsoleOrder(ConsoleText(text).words) }
        #expect(failure?.status == .usage && failure?.description.hasSuffix("Did you mean \(word)?") == true)
    }

    @Test func `R-900: what looks like an option is no container, and how to name one that does is said`() {
        let failure = #expect(throws: AdminFailure.self) { try ConsoleOrder(["use", "-x"]) }
        #expect(failure?.description.contains("-x looks like an option") == true, "\(failure?.description ?? "")")
        #expect(failure?.description.contains("--container=IDENTIFIER") == true)
    }
}
