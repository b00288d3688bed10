// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

/// A `Hello` in the types of the rules.
package struct Greeting: Sendable, Equatable {
    package let container: String
    package let environment: ContainerEnvironment
    /// The credential's text in UTF-8. Nil: nobody is signed in.
    package let credential: [UInt8]?
    package let device: DeviceID
    /// The life of the device. If a client names none, it is the device.
    package let life: DeviceID
    package let clientName: String
    package let deviceName: String

    /// The name of the container.
    package var key: ContainerKey { ContainerKey(identifier: container, environment: environment) }

    /// The device as operators see it: its name, and the program in parentheses.
    package var shownName: String {
        if deviceName.isEmpty { return clientName }
        return clientName.isEmpty ? deviceName : "\(deviceName) (\(clientName))"
    }

    /// The most characters of a container's identifier, and of the names of client and device. A longer identifier is refused.
    /// Longer names are cut, because only people read them.
    private static let textMax = 255
    /// The most bytes of a credential. Those of ours are much shorter; tokens of identity providers are not.
    private static let credentialBytesMax = 16_384

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
        guard hello.credential.utf8.count <= Self.credentialBytesMax else {
            throw Refusal(
                .notAuthenticated, "A credential has at most \(Self.credentialBytesMax) bytes.", problem: .tokenInvalid)
        }
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

    /// A text that is safe to show and to store: short, without control characters and changes of writing direction.
    private static func printable(_ text: String) -> String {
        let shown = text.unicodeScalars.lazy.filter { scalar in
            scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
        }
        return String(String.UnicodeScalarView(shown.prefix(textMax)))
    }
}

extension WireHelloAnswer {
    /// - Parameters:
    ///   - accountLimits: what operators chose for the account; nil: nobody is signed in.
    ///   - connectionsMax: connections that the account may have to the server.
    ///   - quota: of the private database, if it has one.
    package init(
        userRecordName: String, now: Timestamp, memoryEpoch: Int64, store: StoreIncarnation, limits: Limits,
        messageBytesMax: Int, keepsAssets: Bool, of accountLimits: AccountLimits? = nil, connectionsMax: Int = 0,
        quota: QuotaStanding? = nil, serverName: String, warnings: [String] = []
    ) {
        self.init()
        self.warnings = warnings
        self.userRecordName = userRecordName
        serverTime = now.milliseconds
        self.memoryEpoch = UInt64(clamping: memoryEpoch)
        storeLife = store.rawValue
        self.serverName = serverName
        self.limits.itemsMax = UInt32(clamping: limits.itemsMax)
        self.limits.requestBytesMax = UInt32(clamping: limits.requestBytesMax)
        self.limits.recordBytesMax = UInt32(clamping: limits.recordBytesMax)
        self.limits.requestsInFlightMax = UInt32(clamping: limits.requestsInFlightMax)
        self.limits.messageBytesMax = UInt32(clamping: messageBytesMax)
        self.limits.assetBytesMax = keepsAssets ? UInt64(clamping: limits.assetBytesMax) : 0
        self.limits.assetChunkBytesMax = UInt32(clamping: limits.assetChunkBytesMax)
        guard let accountLimits else { return }
        // The tighter one of two limits of requests is told. The other one may still be met first by a burst.
        let rate = RequestRate.tighter(
            accountLimits.rate(standard: limits.requestRate), accountLimits.rateInContainer)
        self.limits.requestsPerSecond = UInt32(clamping: rate?.perSecond ?? 0)
        self.limits.requestBurst = UInt32(clamping: rate?.burst ?? 0)
        self.limits.connectionsMax = UInt32(clamping: connectionsMax)
        self.limits.quotaBytes = quota.map { UInt64(clamping: $0.bytesMax) }
        self.limits.quotaUsedBytes = quota?.byteCount.map { UInt64(clamping: $0) }
    }
}
