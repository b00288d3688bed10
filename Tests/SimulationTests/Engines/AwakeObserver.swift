// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

/// Hears what comes over a channel when its computer is awake.
final class AwakeObserver: CloudChannelObserver, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private let base: any CloudChannelObserver
    private let computer: SimulatedComputer
    private let isHeard: ([UInt8]) -> Bool

    /// - Parameter isHeard: whether a message gets through to the app at all.
    init(_ base: any CloudChannelObserver, on computer: SimulatedComputer, isHeard: @escaping ([UInt8]) -> Bool) {
        self.base = base
        self.computer = computer
        self.isHeard = isHeard
    }

    func channelOpened(_ channel: any CloudChannel) {
        computer.arrive { [base] in base.channelOpened(channel) }
    }

    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {
        guard isHeard(message) else { return }
        computer.arrive { [base] in base.channelReceived(channel, message) }
    }

    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) {
        computer.arrive { [base] in base.channelClosed(channel, reason) }
    }
}
