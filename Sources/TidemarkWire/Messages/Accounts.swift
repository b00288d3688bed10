// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Accounts.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// The first message of a connection. It says who connects, from which device, and for which container.
@usableFromInline
package struct WireHello: WireMessage {
    /// The container's identifier, such as "iCloud.com.example.notes". Case-sensitive.
    package var container = ""
    package var environment = WireEnvironment()
    /// The credential as it was issued. Empty: nobody is signed in, and only the public database can be read.
    package var credential = ""
    /// 16 random bytes. The device keeps them as long as it keeps its state, or until HelloAnswer.device_taken.
    package var device: [UInt8] = []
    /// For operators: "foldersync/1.0", "laptop".
    package var clientName = ""
    package var deviceName = ""
    /// 16 random bytes that a process makes for its connections, new at each start. They name its requests
    /// and the changes of its own, for which it gets no push. Two copies of one device have different
    /// ones. Empty: the same as the device.
    package var life: [UInt8] = []
    /// Whether the client counts the pushes of this connection and acknowledges them (`pushes_heard` in
    /// Envelope.proto). The server numbers pushes only for such a client.
    package var countsPushes = false

    @usableFromInline package init() {}
}

extension WireHello {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.container = try reader.text(atMost: 65_536)
            case 16: self.environment = try reader.choice()
            case 26: self.credential = try reader.text(atMost: 65_536)
            case 34: self.device = try reader.content(atMost: 1_024)
            case 42: self.clientName = try reader.text(atMost: 65_536)
            case 50: self.deviceName = try reader.text(atMost: 65_536)
            case 58: self.life = try reader.content(atMost: 1_024)
            case 80: self.countsPushes = try reader.flag()
            default: try reader.skip(tag, known: 0x4FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !container.isEmpty {
            size += 1 + WireSize.text(container)
        }
        if environment != WireEnvironment() {
            size += 1 + WireSize.choice(environment)
        }
        if !credential.isEmpty {
            size += 1 + WireSize.text(credential)
        }
        if !device.isEmpty {
            size += 1 + WireSize.content(device)
        }
        if !clientName.isEmpty {
            size += 1 + WireSize.text(clientName)
        }
        if !deviceName.isEmpty {
            size += 1 + WireSize.text(deviceName)
        }
        if !life.isEmpty {
            size += 1 + WireSize.content(life)
        }
        if countsPushes {
            size += 1 + WireSize.flag(countsPushes)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !container.isEmpty {
            writer.number(10)
            writer.text(container)
        }
        if environment != WireEnvironment() {
            writer.number(16)
            writer.choice(environment)
        }
        if !credential.isEmpty {
            writer.number(26)
            writer.text(credential)
        }
        if !device.isEmpty {
            writer.number(34)
            writer.content(device)
        }
        if !clientName.isEmpty {
            writer.number(42)
            writer.text(clientName)
        }
        if !deviceName.isEmpty {
            writer.number(50)
            writer.text(deviceName)
        }
        if !life.isEmpty {
            writer.number(58)
            writer.content(life)
        }
        if countsPushes {
            writer.number(80)
            writer.flag(countsPushes)
        }
    }
}

/// The answer to Hello: who the caller is, and what the server accepts.
@usableFromInline
package struct WireHelloAnswer: WireMessage {
    /// The user's record name in this container: "_" and 32 hexadecimal digits. Empty without a credential.
    package var userRecordName = ""
    /// Milliseconds since 1970 on the server's clock. For people, and for clients of version 0.1.
    package var serverTime: Int64 = 0
    package var limits: WireServerLimits {
        get { presentLimits ?? WireServerLimits() }
        set { presentLimits = newValue }
    }
    package var hasLimits: Bool { presentLimits != nil }
    private var presentLimits: WireServerLimits?
    /// "tidemark/0.1.0".
    package var serverName = ""
    /// For RequestStamp.epoch. It grows when the server forgets outcomes.
    package var memoryEpoch: UInt64 = 0
    /// Another connection has the same Hello.device and another life: one device is a copy of the other. Make new
    /// random bytes for Hello.device, use them from the next connection on, and store them in place of the old ones
    ///
    package var deviceTaken = false
    /// The incarnation of the store, as tags and tokens name it: a restore begins another one. 0: an older server.
    package var storeLife: UInt64 = 0
    /// 8 random bytes of this connection. With a request's id they name the request, in the log of the server and in
    /// errors of the client. Both sides make the name: a UUID of version 8 (RFC 9562). Its first 8 bytes are
    /// these, with 8 in the high 4 bits of the seventh. Its last 8 bytes are the id in network order, with binary 10 in
    /// the high 2 bits of the first. A request that is sent again over another connection has another name. Empty: an
    /// older server, whose requests have no names.
    package var requestSession: [UInt8] = []
    /// Whether the server wants to be told what the client has not sent yet (ClientEnvelope.pending_report).
    package var wantsReports = false
    /// Texts for the developer or user of the client, to be logged. Example: the container did not exist and was
    /// created.
    package var warnings: [String] = []

    @usableFromInline package init() {}
}

extension WireHelloAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.userRecordName = try reader.text()
            case 16: self.serverTime = try reader.int64()
            case 26:
                var value = self.presentLimits ?? WireServerLimits()
                self.presentLimits = nil
                try reader.read(&value)
                self.presentLimits = value
            case 34: self.serverName = try reader.text()
            case 40: self.memoryEpoch = try reader.uint64()
            case 48: self.deviceTaken = try reader.flag()
            case 56: self.storeLife = try reader.uint64()
            case 66: self.requestSession = try reader.content()
            case 72: self.wantsReports = try reader.flag()
            case 162: try reader.append(to: &self.warnings, atMost: 1_000)
            default: try reader.skip(tag, known: 0x1003FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !userRecordName.isEmpty {
            size += 1 + WireSize.text(userRecordName)
        }
        if serverTime != 0 {
            size += 1 + WireSize.int64(serverTime)
        }
        if let presentLimits {
            size += 1 + WireSize.message(presentLimits)
        }
        if !serverName.isEmpty {
            size += 1 + WireSize.text(serverName)
        }
        if memoryEpoch != 0 {
            size += 1 + WireSize.uint64(memoryEpoch)
        }
        if deviceTaken {
            size += 1 + WireSize.flag(deviceTaken)
        }
        if storeLife != 0 {
            size += 1 + WireSize.uint64(storeLife)
        }
        if !requestSession.isEmpty {
            size += 1 + WireSize.content(requestSession)
        }
        if wantsReports {
            size += 1 + WireSize.flag(wantsReports)
        }
        for value in warnings {
            size += 2 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !userRecordName.isEmpty {
            writer.number(10)
            writer.text(userRecordName)
        }
        if serverTime != 0 {
            writer.number(16)
            writer.int64(serverTime)
        }
        if let presentLimits {
            writer.number(26)
            writer.message(presentLimits)
        }
        if !serverName.isEmpty {
            writer.number(34)
            writer.text(serverName)
        }
        if memoryEpoch != 0 {
            writer.number(40)
            writer.uint64(memoryEpoch)
        }
        if deviceTaken {
            writer.number(48)
            writer.flag(deviceTaken)
        }
        if storeLife != 0 {
            writer.number(56)
            writer.uint64(storeLife)
        }
        if !requestSession.isEmpty {
            writer.number(66)
            writer.content(requestSession)
        }
        if wantsReports {
            writer.number(72)
            writer.flag(wantsReports)
        }
        for value in warnings {
            writer.number(162)
            writer.text(value)
        }
    }
}

/// What a client has not sent yet, for operators who ask why sync is stuck. Numbers only: no names of records.
@usableFromInline
package struct WirePendingReport: WireMessage {
    package var saves: UInt32 = 0
    package var deletes: UInt32 = 0
    /// Zones to be saved or deleted.
    package var databaseChanges: UInt32 = 0
    package var waitsFor = WirePendingWait()
    /// The CKError.Code of the last failure. 0: the last request succeeded.
    package var lastError: UInt32 = 0

    @usableFromInline package init() {}
}

extension WirePendingReport {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.saves = try reader.uint32()
            case 16: self.deletes = try reader.uint32()
            case 24: self.databaseChanges = try reader.uint32()
            case 32: self.waitsFor = try reader.choice()
            case 40: self.lastError = try reader.uint32()
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if saves != 0 {
            size += 1 + WireSize.uint32(saves)
        }
        if deletes != 0 {
            size += 1 + WireSize.uint32(deletes)
        }
        if databaseChanges != 0 {
            size += 1 + WireSize.uint32(databaseChanges)
        }
        if waitsFor != WirePendingWait() {
            size += 1 + WireSize.choice(waitsFor)
        }
        if lastError != 0 {
            size += 1 + WireSize.uint32(lastError)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if saves != 0 {
            writer.number(8)
            writer.uint32(saves)
        }
        if deletes != 0 {
            writer.number(16)
            writer.uint32(deletes)
        }
        if databaseChanges != 0 {
            writer.number(24)
            writer.uint32(databaseChanges)
        }
        if waitsFor != WirePendingWait() {
            writer.number(32)
            writer.choice(waitsFor)
        }
        if lastError != 0 {
            writer.number(40)
            writer.uint32(lastError)
        }
    }
}

/// What the server accepts. Limits in TidemarkDomain say what happens beyond.
@usableFromInline
package struct WireServerLimits: WireMessage {
    /// Saves and deletes in one ModifyRecords; names in one FetchRecords.
    package var itemsMax: UInt32 = 0
    /// Bytes of all fields in one ModifyRecords.
    package var requestBytesMax: UInt32 = 0
    /// Bytes of the fields of one record.
    package var recordBytesMax: UInt32 = 0
    /// Requests that wait for an answer.
    package var requestsInFlightMax: UInt32 = 0
    /// Bytes of one WebSocket message.
    package var messageBytesMax: UInt32 = 0
    /// Bytes of one asset. 0: this server keeps no assets.
    package var assetBytesMax: UInt64 = 0
    /// Bytes of an asset in one message.
    package var assetChunkBytesMax: UInt32 = 0
    /// Requests that the account may send to this server in a second, for a long time. Parts of assets do not count. An
    /// operator may change it while the connection is open. 0: any number, or an older server.
    package var requestsPerSecond: UInt32 = 0
    /// Requests that it may send at once, after it has sent none for a while. 0: as before.
    package var requestBurst: UInt32 = 0
    /// Bytes that the private database may hold, or all private databases of the account together: of two quotas the
    /// one that leaves less room. Absent: any number, nobody is signed in, or an older server.
    package var quotaBytes: UInt64?
    /// Bytes of that quota that were used when the connection began. Absent: there is no quota, the account has more
    /// zones than the server counts then, or the server is older.
    package var quotaUsedBytes: UInt64?
    /// Connections that the account may have to this server at once. 0: nobody is signed in, or an older server.
    package var connectionsMax: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireServerLimits {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.itemsMax = try reader.uint32()
            case 16: self.requestBytesMax = try reader.uint32()
            case 24: self.recordBytesMax = try reader.uint32()
            case 32: self.requestsInFlightMax = try reader.uint32()
            case 40: self.messageBytesMax = try reader.uint32()
            case 48: self.assetBytesMax = try reader.uint64()
            case 56: self.assetChunkBytesMax = try reader.uint32()
            case 64: self.requestsPerSecond = try reader.uint32()
            case 72: self.requestBurst = try reader.uint32()
            case 80: self.quotaBytes = try reader.uint64()
            case 88: self.quotaUsedBytes = try reader.uint64()
            case 96: self.connectionsMax = try reader.uint32()
            default: try reader.skip(tag, known: 0x1FFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if itemsMax != 0 {
            size += 1 + WireSize.uint32(itemsMax)
        }
        if requestBytesMax != 0 {
            size += 1 + WireSize.uint32(requestBytesMax)
        }
        if recordBytesMax != 0 {
            size += 1 + WireSize.uint32(recordBytesMax)
        }
        if requestsInFlightMax != 0 {
            size += 1 + WireSize.uint32(requestsInFlightMax)
        }
        if messageBytesMax != 0 {
            size += 1 + WireSize.uint32(messageBytesMax)
        }
        if assetBytesMax != 0 {
            size += 1 + WireSize.uint64(assetBytesMax)
        }
        if assetChunkBytesMax != 0 {
            size += 1 + WireSize.uint32(assetChunkBytesMax)
        }
        if requestsPerSecond != 0 {
            size += 1 + WireSize.uint32(requestsPerSecond)
        }
        if requestBurst != 0 {
            size += 1 + WireSize.uint32(requestBurst)
        }
        if let quotaBytes {
            size += 1 + WireSize.uint64(quotaBytes)
        }
        if let quotaUsedBytes {
            size += 1 + WireSize.uint64(quotaUsedBytes)
        }
        if connectionsMax != 0 {
            size += 1 + WireSize.uint32(connectionsMax)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if itemsMax != 0 {
            writer.number(8)
            writer.uint32(itemsMax)
        }
        if requestBytesMax != 0 {
            writer.number(16)
            writer.uint32(requestBytesMax)
        }
        if recordBytesMax != 0 {
            writer.number(24)
            writer.uint32(recordBytesMax)
        }
        if requestsInFlightMax != 0 {
            writer.number(32)
            writer.uint32(requestsInFlightMax)
        }
        if messageBytesMax != 0 {
            writer.number(40)
            writer.uint32(messageBytesMax)
        }
        if assetBytesMax != 0 {
            writer.number(48)
            writer.uint64(assetBytesMax)
        }
        if assetChunkBytesMax != 0 {
            writer.number(56)
            writer.uint32(assetChunkBytesMax)
        }
        if requestsPerSecond != 0 {
            writer.number(64)
            writer.uint32(requestsPerSecond)
        }
        if requestBurst != 0 {
            writer.number(72)
            writer.uint32(requestBurst)
        }
        if let quotaBytes {
            writer.number(80)
            writer.uint64(quotaBytes)
        }
        if let quotaUsedBytes {
            writer.number(88)
            writer.uint64(quotaUsedBytes)
        }
        if connectionsMax != 0 {
            writer.number(96)
            writer.uint32(connectionsMax)
        }
    }
}

/// Development and production have fully separate data.
@usableFromInline
package enum WireEnvironment: WireChoice {
    /// Read as development.
    case unspecified
    case development
    case production
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .development
        case 2: self = .production
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .development: 1
        case .production: 2
        case .unrecognized(let number): number
        }
    }
}

/// What a client waits for before it sends.
@usableFromInline
package enum WirePendingWait: WireChoice {
    case waitsForNothing
    case waitsForConnection
    case waitsForAccount
    /// A delay that the server asked for.
    case waitsForDelay
    case waitsForQuota
    /// The app sends by hand, or handles an event.
    case waitsForApp
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .waitsForNothing }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .waitsForNothing
        case 1: self = .waitsForConnection
        case 2: self = .waitsForAccount
        case 3: self = .waitsForDelay
        case 4: self = .waitsForQuota
        case 5: self = .waitsForApp
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .waitsForNothing: 0
        case .waitsForConnection: 1
        case .waitsForAccount: 2
        case .waitsForDelay: 3
        case .waitsForQuota: 4
        case .waitsForApp: 5
        case .unrecognized(let number): number
        }
    }
}
