// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain

@testable import TidemarkAdmin

/// What `--debug` shows of a command that goes to a server.
@Suite struct SentCommandTests {
    @Test(arguments: [
        (
            ["accounts", "list"],
            "tidemark admin accounts list --context work --container iCloud.test --environment production"
        ),
        (
            ["accounts", "show", "it's $(x)", ""],
            #"tidemark admin accounts show 'it'\''s $(x)' '' --context work --container iCloud.test --environment production"#
        ),
        (
            ["zones", "list", "a", "--container=other", "--environment", "production"],
            "tidemark admin zones list a '--container=other' --environment production --context work"
        ),
        // What comes after the mark is no option.
        (
            ["accounts", "show", "--", "--container"],
            "tidemark admin accounts show --context work --container iCloud.test --environment production -- --container"
        ),
        // The name of the context may be another one here.
        (
            ["accounts", "list", "--context", "work"],
            "tidemark admin accounts list --context work --container iCloud.test --environment production"
        ),
    ])
    func `R-835: a request is shown as a line that sends the same, without the credential`(
        _ arguments: [String], _ line: String
    ) throws {
        let command = try #require(try Admin.parseAsRoot(["accounts", "list"]) as? any AdminCommand)
        let context = AdminContext(
            name: "work", target: .server(url: "wss://host:1", credential: "tidemark_secret"), container: "iCloud.test",
            environment: .production)
        let target = AdminTarget(
            place: context.target, container: "iCloud.test", environment: .production, context: context)
        let sent = SentCommand(command, arguments: arguments, target, RecordingTerminal())
        #expect(sent.text(to: "wss://host:1", target) == "-- to wss://host:1\n\(line)")
    }
}
