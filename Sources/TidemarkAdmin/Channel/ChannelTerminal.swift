// SPDX-License-Identifier: Apache-2.0

internal import TidemarkServer

/// The terminal of an operator who is connected to this server.
struct ChannelTerminal: OperatorTerminal {
    let hasColor: Bool
    let canAsk: Bool
    let showsProgress: Bool
    private let channel: any OperatorChannel
    private let files = ChannelFiles()

    var hasLocalFiles: Bool { false }

    init(_ request: OperatorRequest, _ channel: any OperatorChannel) {
        hasColor = request.hasColor
        canAsk = request.canAsk
        showsProgress = request.showsProgress
        self.channel = channel
    }

    func write(_ text: String) async throws {
        guard await channel.write(text) else { throw CommandEnd.readerGone }
    }

    func say(_ text: String) { channel.say(text) }

    func showProgress(_ text: String?) {
        if showsProgress { channel.showProgress(text) }
    }

    func ask(_ question: String) async -> String? { await channel.ask(question) }

    func open(_ path: String) throws(AdminFailure) -> InputFile { try InputFile(try files.open(path, channel)) }
}
