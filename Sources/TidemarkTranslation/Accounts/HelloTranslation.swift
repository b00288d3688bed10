// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

/// A `Hello` as the server understands it.
package struct Greeting: Sendable, Equatable {
    package let container: String
    package let environment: ContainerEnvironment
    /// The credential's text in UTF-8; nil: nobody.
    package let credential: [UInt8]?
    package let device: DeviceID
    /// The life of the device. A client that names none has one life, which is its device.
    package let life: DeviceID
    package let clientName: String
    package let deviceName: String

    /// The container by name.
    package var key: ContainerKey { ContainerKey(identifier: container, environment: environment) }

    /// What operators see of the device: its name, and the program in parentheses.
    package var shownName: String {
        if deviceName.isEmpty { return clientName }
        return clientName.isEmpty ? deviceName : "\(deviceName) (\(clientName))"
    }

    /// Characters of a container's identifier and of the names of client and device at the most; what is longer is
    /// refused, or cut for names that only people read.
    private static let textMax = 255
    /// Bytes of a credential at the most; ours are much shorter.
    private static let credentialBytesMax = 1_024

    package init(_ hello: WireHello) throws(Refusal) {
        let name = hello.container.utf8
        guard !name.isEmpty, name.count <= Self.textMax, name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Refusal(.containerUnknown, "A container's identifier is 1 to 255 printable ASCII characters.")
        }
        guard let device = DeviceID(bytes: hello.device) else {
            throw Refusal(.requestInvalid, "A device's id is 16 bytes.")
        }
        guard let life = hello.life.isEmpty ? device : DeviceID(bytes: hello.life) else {
            throw Refusal(.requestInvalid, "The life of a device is 16 bytes.")
        }
        guard hello.credential.utf8.count <= Self.credentialBytesMax else { throw Refusal(.notAuthenticated) }
        switch hello.environment {
        case .unspecified, .development: environment = .development
        case .production: environment = .production
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such environment.")
        }
        container = hello.container
        credential = hello.credential.isEmpty ? nil : Array(hello.credential.utf8)
        self.device = device
        self.life = life
        clientName = Self.printable(hello.clientName)
        deviceName = Self.printable(hello.deviceName)
    }

    /// For operators' eyes and for text columns: nothing that moves a cursor or turns the direction of writing, bounded.
    private static func printable(_ text: String) -> String {
        let shown = text.unicodeScalars.lazy.filter { scalar in
            scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
        }
        return String(String.UnicodeScalarView(shown.prefix(textMax)))
    }
}

extension WireHelloAnswer {
    package init(
        userRecordName: String, now: Timestamp, memoryEpoch: Int64, limits: Limits, messageBytesMax: Int,
        keepsAssets: Bool, serverName: String, warnings: [String] = []
    ) {
        self.init()
        self.warnings = warnings
        self.userRecordName = userRecordName
        serverTime = now.milliseconds
        self.memoryEpoch = UInt64(clamping: memoryEpoch)
        self.serverName = serverName
        self.limits.itemsMax = UInt32(clamping: limits.itemsMax)
        self.limits.requestBytesMax = UInt32(clamping: limits.requestBytesMax)
        self.limits.recordBytesMax = UInt32(clamping: limits.recordBytesMax)
        self.limits.requestsInFlightMax = UInt32(clamping: limits.requestsInFlightMax)
        self.limits.messageBytesMax = UInt32(clamping: messageBytesMax)
        self.limits.assetBytesMax = keepsAssets ? UInt64(clamping: limits.assetBytesMax) : 0
        self.limits.assetChunkBytesMax = UInt32(clamping: limits.assetChunkBytesMax)
    }
}
