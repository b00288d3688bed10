// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

/// A device's end of a connection: hears only when its computer is awake, and makes what ``PlantedFault`` there is to be on
/// the way to the server.
final class DeviceChannel: CloudChannel, CloudChannelObserver, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private let app: SimulatedApp
    private let observer: any CloudChannelObserver
    private var base: (any CloudChannel)?

    init(of app: SimulatedApp, observer: any CloudChannelObserver) {
        self.app = app
        self.observer = observer
    }

    /// - Parameter base: that this one is the observer of.
    func connect(_ base: any CloudChannel) {
        self.base = base
    }

    // MARK: To the server

    func send(_ message: [UInt8]) {
        base?.send(app.world.planted == .memoryOfDevice ? Self.withDeviceAsLife(message) : message)
    }

    func close() { base?.close() }

    private static func withDeviceAsLife(_ message: [UInt8]) -> [UInt8] {
        guard var envelope = try? WireClientEnvelope(reading: message), case .hello = envelope.request else {
            return message
        }
        envelope.hello.life = envelope.hello.device
        return envelope.encoded
    }

    // MARK: From the server

    func channelOpened(_ channel: any CloudChannel) {
        app.computer.arrive { [self] in observer.channelOpened(self) }
    }

    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {
        if app.world.planted == .copyHearsNoPushes, app.isCopy, Self.isPush(message) { return }
        app.computer.arrive { [self] in observer.channelReceived(self, message) }
    }

    func channelProgressed(_ channel: any CloudChannel) {
        app.computer.arrive { [self] in observer.channelProgressed(self) }
    }

    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) {
        app.computer.arrive { [self] in observer.channelClosed(self, reason) }
    }

    private static func isPush(_ message: [UInt8]) -> Bool {
        guard case .push? = try? WireServerEnvelope(reading: message).answer else { return false }
        return true
    }
}
