// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkScheduling

struct AdminXray: AdminCommand {
    static let configuration = CommandConfiguration(
        "xray", abstract: "Show which device of an account is behind, and why.",
        discussion: """
            All servers are asked first, and write down what they know of the account's devices now. If one does not answer \
            within 3 seconds, a message names it, and NOTED says how old its facts are. Each finding has a code, a sentence \
            and what to do.

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
        let inquiry = ServerInquiry(console)
        defer { inquiry.close() }
        var shown: XrayPicture?
        var said: [String] = []
        repeat {
            let servers = try await inquiry.ask(about: id)
            let picture = try await XrayPicture.take(of: id, servers, console)
            let remarks = picture.remarks(on: servers)
            // Without ages, which change by themselves.
            let topics = remarks.texts(at: Timestamp(milliseconds: 0))
            if topics != said { remarks.texts(at: console.now).forEach(console.say) }
            said = topics
            if picture != shown {
                try await picture.show(at: console.now, of: account, on: console)
                shown = picture
            }
            if watch { try await console.loop.sleep(for: Self.pause) }
        } while watch
    }
}
