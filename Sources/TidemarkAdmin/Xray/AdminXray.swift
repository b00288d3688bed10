// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkScheduling

struct AdminXray: AdminCommand {
    static let configuration = CommandConfiguration(
        "xray", abstract: "Show which device of an account is behind, and why.",
        discussion: """
            What servers know of the account's devices, as they last wrote it down: a minute old at most (NOTED says how \
            old). Each finding has a code, a sentence and what to do.

            With -o json each line has a "kind": finding, device, feed, request, quota or subscription.
            """,
        examples: "tidemark admin xray alice", "tidemark admin xray alice --watch")
    static let role = OperatorRole.viewer

    @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
    @Flag(help: "Go on, and show it again whenever something has changed.") var watch = false
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    private static let pause = Duration.seconds(1)

    func run(_ console: Console) async throws {
        let id = try await console.account(account)
        var shown: XrayPicture?
        repeat {
            let picture = try await XrayPicture.take(of: id, console)
            if picture != shown {
                try await picture.show(at: console.now, of: account, on: console)
                shown = picture
            }
            if watch { try await console.loop.sleep(for: Self.pause) }
        } while watch
    }
}
