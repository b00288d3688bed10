// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Envelope.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// What a client sends.
@usableFromInline
package struct WireClientEnvelope: WireMessage {
    /// The client chooses it. It is not 0, and is unique among the requests under way on this connection.
    package var id: UInt64 = 0
    /// One of these, or none.
    package enum OneOfRequest: Sendable, Equatable {
        indirect case hello(WireHello)
        indirect case modifyRecords(WireModifyRecords)
        indirect case fetchRecords(WireFetchRecords)
        indirect case modifyZones(WireModifyZones)
        indirect case fetchZones(WireFetchZones)
        indirect case fetchDatabaseChanges(WireFetchDatabaseChanges)
        indirect case fetchZoneChanges(WireFetchZoneChanges)
        indirect case modifySubscriptions(WireModifySubscriptions)
        indirect case fetchSubscriptions(WireFetchSubscriptions)
        indirect case queryRecords(WireQueryRecords)
        indirect case verifyZone(WireVerifyZone)
        indirect case prepareAssetUpload(WirePrepareAssetUpload)
        indirect case uploadAssetChunk(WireUploadAssetChunk)
        indirect case fetchAssetChunk(WireFetchAssetChunk)
        indirect case fetchKeys(WireFetchKeys)
        indirect case saveAccountKey(WireSaveAccountKey)
        indirect case saveZoneKey(WireSaveZoneKey)
        indirect case grantKeys(WireGrantKeys)
        indirect case fetchShareMetadata(WireFetchShareMetadata)
        indirect case acceptShares(WireAcceptShares)
        indirect case fetchShareParticipants(WireFetchShareParticipants)
        indirect case requestShareAccess(WireRequestShareAccess)
        indirect case joinPresence(WireJoinPresence)
        indirect case publishPresence(WirePublishPresence)
        indirect case leavePresence(WireLeavePresence)
    }

    package var request: OneOfRequest?

    package var hello: WireHello {
        get {
            if case .hello(let value)? = request { value } else { WireHello() }
        }
        set { request = .hello(newValue) }
    }

    package var modifyRecords: WireModifyRecords {
        get {
            if case .modifyRecords(let value)? = request { value } else { WireModifyRecords() }
        }
        set { request = .modifyRecords(newValue) }
    }

    package var fetchRecords: WireFetchRecords {
        get {
            if case .fetchRecords(let value)? = request { value } else { WireFetchRecords() }
        }
        set { request = .fetchRecords(newValue) }
    }

    package var modifyZones: WireModifyZones {
        get {
            if case .modifyZones(let value)? = request { value } else { WireModifyZones() }
        }
        set { request = .modifyZones(newValue) }
    }

    package var fetchZones: WireFetchZones {
        get {
            if case .fetchZones(let value)? = request { value } else { WireFetchZones() }
        }
        set { request = .fetchZones(newValue) }
    }

    package var fetchDatabaseChanges: WireFetchDatabaseChanges {
        get {
            if case .fetchDatabaseChanges(let value)? = request { value } else { WireFetchDatabaseChanges() }
        }
        set { request = .fetchDatabaseChanges(newValue) }
    }

    package var fetchZoneChanges: WireFetchZoneChanges {
        get {
            if case .fetchZoneChanges(let value)? = request { value } else { WireFetchZoneChanges() }
        }
        set { request = .fetchZoneChanges(newValue) }
    }

    package var modifySubscriptions: WireModifySubscriptions {
        get {
            if case .modifySubscriptions(let value)? = request { value } else { WireModifySubscriptions() }
        }
        set { request = .modifySubscriptions(newValue) }
    }

    package var fetchSubscriptions: WireFetchSubscriptions {
        get {
            if case .fetchSubscriptions(let value)? = request { value } else { WireFetchSubscriptions() }
        }
        set { request = .fetchSubscriptions(newValue) }
    }

    package var queryRecords: WireQueryRecords {
        get {
            if case .queryRecords(let value)? = request { value } else { WireQueryRecords() }
        }
        set { request = .queryRecords(newValue) }
    }

    package var verifyZone: WireVerifyZone {
        get {
            if case .verifyZone(let value)? = request { value } else { WireVerifyZone() }
        }
        set { request = .verifyZone(newValue) }
    }

    package var prepareAssetUpload: WirePrepareAssetUpload {
        get {
            if case .prepareAssetUpload(let value)? = request { value } else { WirePrepareAssetUpload() }
        }
        set { request = .prepareAssetUpload(newValue) }
    }

    package var uploadAssetChunk: WireUploadAssetChunk {
        get {
            if case .uploadAssetChunk(let value)? = request { value } else { WireUploadAssetChunk() }
        }
        set { request = .uploadAssetChunk(newValue) }
    }

    package var fetchAssetChunk: WireFetchAssetChunk {
        get {
            if case .fetchAssetChunk(let value)? = request { value } else { WireFetchAssetChunk() }
        }
        set { request = .fetchAssetChunk(newValue) }
    }

    package var fetchKeys: WireFetchKeys {
        get {
            if case .fetchKeys(let value)? = request { value } else { WireFetchKeys() }
        }
        set { request = .fetchKeys(newValue) }
    }

    package var saveAccountKey: WireSaveAccountKey {
        get {
            if case .saveAccountKey(let value)? = request { value } else { WireSaveAccountKey() }
        }
        set { request = .saveAccountKey(newValue) }
    }

    package var saveZoneKey: WireSaveZoneKey {
        get {
            if case .saveZoneKey(let value)? = request { value } else { WireSaveZoneKey() }
        }
        set { request = .saveZoneKey(newValue) }
    }

    package var grantKeys: WireGrantKeys {
        get {
            if case .grantKeys(let value)? = request { value } else { WireGrantKeys() }
        }
        set { request = .grantKeys(newValue) }
    }

    package var fetchShareMetadata: WireFetchShareMetadata {
        get {
            if case .fetchShareMetadata(let value)? = request { value } else { WireFetchShareMetadata() }
        }
        set { request = .fetchShareMetadata(newValue) }
    }

    package var acceptShares: WireAcceptShares {
        get {
            if case .acceptShares(let value)? = request { value } else { WireAcceptShares() }
        }
        set { request = .acceptShares(newValue) }
    }

    package var fetchShareParticipants: WireFetchShareParticipants {
        get {
            if case .fetchShareParticipants(let value)? = request { value } else { WireFetchShareParticipants() }
        }
        set { request = .fetchShareParticipants(newValue) }
    }

    package var requestShareAccess: WireRequestShareAccess {
        get {
            if case .requestShareAccess(let value)? = request { value } else { WireRequestShareAccess() }
        }
        set { request = .requestShareAccess(newValue) }
    }

    package var joinPresence: WireJoinPresence {
        get {
            if case .joinPresence(let value)? = request { value } else { WireJoinPresence() }
        }
        set { request = .joinPresence(newValue) }
    }

    package var publishPresence: WirePublishPresence {
        get {
            if case .publishPresence(let value)? = request { value } else { WirePublishPresence() }
        }
        set { request = .publishPresence(newValue) }
    }

    package var leavePresence: WireLeavePresence {
        get {
            if case .leavePresence(let value)? = request { value } else { WireLeavePresence() }
        }
        set { request = .leavePresence(newValue) }
    }

    /// The group of operations that the request belongs to, if the app made one. The server writes it to its log. It
    /// has no other effect.
    package var operationGroup: WireOperationGroup {
        get { presentOperationGroup ?? WireOperationGroup() }
        set { presentOperationGroup = newValue }
    }
    package var hasOperationGroup: Bool { presentOperationGroup != nil }
    private var presentOperationGroup: WireOperationGroup?
    /// The number of the last push that the client heard over this connection. 0: not said. A client answers a reminder
    /// with id 0, no request, and this number. The server does not answer that.
    package var pushesHeard: UInt64 = 0
    /// What the client has not sent yet, if HelloAnswer.wants_reports says so: at most once a minute, and only if it
    /// has changed. It may come with id 0 and no request. The server does not answer that.
    package var pendingReport: WirePendingReport {
        get { presentPendingReport ?? WirePendingReport() }
        set { presentPendingReport = newValue }
    }
    package var hasPendingReport: Bool { presentPendingReport != nil }
    private var presentPendingReport: WirePendingReport?

    @usableFromInline package init() {}
}

extension WireClientEnvelope {
    @usableFromInline package static var elementsInAllMax: Int { 16384 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.id = try reader.uint64()
            case 18:
                var value = self.hello
                self.request = nil
                try reader.read(&value)
                self.request = .hello(value)
            case 26:
                var value = self.modifyRecords
                self.request = nil
                try reader.read(&value)
                self.request = .modifyRecords(value)
            case 34:
                var value = self.fetchRecords
                self.request = nil
                try reader.read(&value)
                self.request = .fetchRecords(value)
            case 42:
                var value = self.modifyZones
                self.request = nil
                try reader.read(&value)
                self.request = .modifyZones(value)
            case 50:
                var value = self.fetchZones
                self.request = nil
                try reader.read(&value)
                self.request = .fetchZones(value)
            case 58:
                var value = self.fetchDatabaseChanges
                self.request = nil
                try reader.read(&value)
                self.request = .fetchDatabaseChanges(value)
            case 66:
                var value = self.fetchZoneChanges
                self.request = nil
                try reader.read(&value)
                self.request = .fetchZoneChanges(value)
            case 74:
                var value = self.modifySubscriptions
                self.request = nil
                try reader.read(&value)
                self.request = .modifySubscriptions(value)
            case 82:
                var value = self.fetchSubscriptions
                self.request = nil
                try reader.read(&value)
                self.request = .fetchSubscriptions(value)
            case 90:
                var value = self.queryRecords
                self.request = nil
                try reader.read(&value)
                self.request = .queryRecords(value)
            case 114:
                var value = self.verifyZone
                self.request = nil
                try reader.read(&value)
                self.request = .verifyZone(value)
            case 162:
                var value = self.prepareAssetUpload
                self.request = nil
                try reader.read(&value)
                self.request = .prepareAssetUpload(value)
            case 170:
                var value = self.uploadAssetChunk
                self.request = nil
                try reader.read(&value)
                self.request = .uploadAssetChunk(value)
            case 178:
                var value = self.fetchAssetChunk
                self.request = nil
                try reader.read(&value)
                self.request = .fetchAssetChunk(value)
            case 242:
                var value = self.fetchKeys
                self.request = nil
                try reader.read(&value)
                self.request = .fetchKeys(value)
            case 250:
                var value = self.saveAccountKey
                self.request = nil
                try reader.read(&value)
                self.request = .saveAccountKey(value)
            case 258:
                var value = self.saveZoneKey
                self.request = nil
                try reader.read(&value)
                self.request = .saveZoneKey(value)
            case 266:
                var value = self.grantKeys
                self.request = nil
                try reader.read(&value)
                self.request = .grantKeys(value)
            case 322:
                var value = self.fetchShareMetadata
                self.request = nil
                try reader.read(&value)
                self.request = .fetchShareMetadata(value)
            case 330:
                var value = self.acceptShares
                self.request = nil
                try reader.read(&value)
                self.request = .acceptShares(value)
            case 338:
                var value = self.fetchShareParticipants
                self.request = nil
                try reader.read(&value)
                self.request = .fetchShareParticipants(value)
            case 346:
                var value = self.requestShareAccess
                self.request = nil
                try reader.read(&value)
                self.request = .requestShareAccess(value)
            case 402:
                var value = self.joinPresence
                self.request = nil
                try reader.read(&value)
                self.request = .joinPresence(value)
            case 410:
                var value = self.publishPresence
                self.request = nil
                try reader.read(&value)
                self.request = .publishPresence(value)
            case 418:
                var value = self.leavePresence
                self.request = nil
                try reader.read(&value)
                self.request = .leavePresence(value)
            case 482:
                var value = self.presentOperationGroup ?? WireOperationGroup()
                self.presentOperationGroup = nil
                try reader.read(&value)
                self.presentOperationGroup = value
            case 488: self.pushesHeard = try reader.uint64()
            case 498:
                var value = self.presentPendingReport ?? WirePendingReport()
                self.presentPendingReport = nil
                try reader.read(&value)
                self.presentPendingReport = value
            default: try reader.skip(tag, known: 0x701C0F03C0704FFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if id != 0 {
            size += 1 + WireSize.uint64(id)
        }
        switch request {
        case .hello(let value)?:
            size += 1 + WireSize.message(value)
        case .modifyRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .modifyZones(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchZones(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchDatabaseChanges(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchZoneChanges(let value)?:
            size += 1 + WireSize.message(value)
        case .modifySubscriptions(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchSubscriptions(let value)?:
            size += 1 + WireSize.message(value)
        case .queryRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .verifyZone(let value)?:
            size += 1 + WireSize.message(value)
        case .prepareAssetUpload(let value)?:
            size += 2 + WireSize.message(value)
        case .uploadAssetChunk(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchAssetChunk(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchKeys(let value)?:
            size += 2 + WireSize.message(value)
        case .saveAccountKey(let value)?:
            size += 2 + WireSize.message(value)
        case .saveZoneKey(let value)?:
            size += 2 + WireSize.message(value)
        case .grantKeys(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchShareMetadata(let value)?:
            size += 2 + WireSize.message(value)
        case .acceptShares(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchShareParticipants(let value)?:
            size += 2 + WireSize.message(value)
        case .requestShareAccess(let value)?:
            size += 2 + WireSize.message(value)
        case .joinPresence(let value)?:
            size += 2 + WireSize.message(value)
        case .publishPresence(let value)?:
            size += 2 + WireSize.message(value)
        case .leavePresence(let value)?:
            size += 2 + WireSize.message(value)
        case nil: break
        }
        if let presentOperationGroup {
            size += 2 + WireSize.message(presentOperationGroup)
        }
        if pushesHeard != 0 {
            size += 2 + WireSize.uint64(pushesHeard)
        }
        if let presentPendingReport {
            size += 2 + WireSize.message(presentPendingReport)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if id != 0 {
            writer.number(8)
            writer.uint64(id)
        }
        switch request {
        case .hello(let value)?:
            writer.number(18)
            writer.message(value)
        case .modifyRecords(let value)?:
            writer.number(26)
            writer.message(value)
        case .fetchRecords(let value)?:
            writer.number(34)
            writer.message(value)
        case .modifyZones(let value)?:
            writer.number(42)
            writer.message(value)
        case .fetchZones(let value)?:
            writer.number(50)
            writer.message(value)
        case .fetchDatabaseChanges(let value)?:
            writer.number(58)
            writer.message(value)
        case .fetchZoneChanges(let value)?:
            writer.number(66)
            writer.message(value)
        case .modifySubscriptions(let value)?:
            writer.number(74)
            writer.message(value)
        case .fetchSubscriptions(let value)?:
            writer.number(82)
            writer.message(value)
        case .queryRecords(let value)?:
            writer.number(90)
            writer.message(value)
        case .verifyZone(let value)?:
            writer.number(114)
            writer.message(value)
        case .prepareAssetUpload(let value)?:
            writer.number(162)
            writer.message(value)
        case .uploadAssetChunk(let value)?:
            writer.number(170)
            writer.message(value)
        case .fetchAssetChunk(let value)?:
            writer.number(178)
            writer.message(value)
        case .fetchKeys(let value)?:
            writer.number(242)
            writer.message(value)
        case .saveAccountKey(let value)?:
            writer.number(250)
            writer.message(value)
        case .saveZoneKey(let value)?:
            writer.number(258)
            writer.message(value)
        case .grantKeys(let value)?:
            writer.number(266)
            writer.message(value)
        case .fetchShareMetadata(let value)?:
            writer.number(322)
            writer.message(value)
        case .acceptShares(let value)?:
            writer.number(330)
            writer.message(value)
        case .fetchShareParticipants(let value)?:
            writer.number(338)
            writer.message(value)
        case .requestShareAccess(let value)?:
            writer.number(346)
            writer.message(value)
        case .joinPresence(let value)?:
            writer.number(402)
            writer.message(value)
        case .publishPresence(let value)?:
            writer.number(410)
            writer.message(value)
        case .leavePresence(let value)?:
            writer.number(418)
            writer.message(value)
        case nil: break
        }
        if let presentOperationGroup {
            writer.number(482)
            writer.message(presentOperationGroup)
        }
        if pushesHeard != 0 {
            writer.number(488)
            writer.uint64(pushesHeard)
        }
        if let presentPendingReport {
            writer.number(498)
            writer.message(presentPendingReport)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireClientEnvelope {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var id: UInt32 { 8 }
        @inlinable package static var hello: UInt32 { 18 }
        @inlinable package static var modifyRecords: UInt32 { 26 }
        @inlinable package static var fetchRecords: UInt32 { 34 }
        @inlinable package static var modifyZones: UInt32 { 42 }
        @inlinable package static var fetchZones: UInt32 { 50 }
        @inlinable package static var fetchDatabaseChanges: UInt32 { 58 }
        @inlinable package static var fetchZoneChanges: UInt32 { 66 }
        @inlinable package static var modifySubscriptions: UInt32 { 74 }
        @inlinable package static var fetchSubscriptions: UInt32 { 82 }
        @inlinable package static var queryRecords: UInt32 { 90 }
        @inlinable package static var verifyZone: UInt32 { 114 }
        @inlinable package static var prepareAssetUpload: UInt32 { 162 }
        @inlinable package static var uploadAssetChunk: UInt32 { 170 }
        @inlinable package static var fetchAssetChunk: UInt32 { 178 }
        @inlinable package static var fetchKeys: UInt32 { 242 }
        @inlinable package static var saveAccountKey: UInt32 { 250 }
        @inlinable package static var saveZoneKey: UInt32 { 258 }
        @inlinable package static var grantKeys: UInt32 { 266 }
        @inlinable package static var fetchShareMetadata: UInt32 { 322 }
        @inlinable package static var acceptShares: UInt32 { 330 }
        @inlinable package static var fetchShareParticipants: UInt32 { 338 }
        @inlinable package static var requestShareAccess: UInt32 { 346 }
        @inlinable package static var joinPresence: UInt32 { 402 }
        @inlinable package static var publishPresence: UInt32 { 410 }
        @inlinable package static var leavePresence: UInt32 { 418 }
        @inlinable package static var operationGroup: UInt32 { 482 }
        @inlinable package static var pushesHeard: UInt32 { 488 }
        @inlinable package static var pendingReport: UInt32 { 498 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(id: UInt64 = 0, pushesHeard: UInt64 = 0, to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if id != 0 { size += 1 + WireSize.uint64(id) }
            if pushesHeard != 0 { size += 2 + WireSize.uint64(pushesHeard) }
            return writer.count(size)
        }
        if id != 0 {
            writer.number(8)
            writer.uint64(id)
        }
        if pushesHeard != 0 {
            writer.number(488)
            writer.uint64(pushesHeard)
        }
    }

    /// The size of the field `hello`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(hello byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `hello`. The bytes of its message must follow.
    @inlinable
    package static func begin(hello byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifyRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifyRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifyRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifyRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(26)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(34)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifyZones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifyZones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifyZones`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifyZones byteCount: Int, to writer: inout WireWriter) {
        writer.number(42)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchZones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchZones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchZones`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchZones byteCount: Int, to writer: inout WireWriter) {
        writer.number(50)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchDatabaseChanges`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchDatabaseChanges byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchDatabaseChanges`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchDatabaseChanges byteCount: Int, to writer: inout WireWriter) {
        writer.number(58)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchZoneChanges`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchZoneChanges byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchZoneChanges`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchZoneChanges byteCount: Int, to writer: inout WireWriter) {
        writer.number(66)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifySubscriptions`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifySubscriptions byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifySubscriptions`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifySubscriptions byteCount: Int, to writer: inout WireWriter) {
        writer.number(74)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchSubscriptions`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchSubscriptions byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchSubscriptions`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchSubscriptions byteCount: Int, to writer: inout WireWriter) {
        writer.number(82)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `queryRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(queryRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `queryRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(queryRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(90)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `verifyZone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(verifyZone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `verifyZone`. The bytes of its message must follow.
    @inlinable
    package static func begin(verifyZone byteCount: Int, to writer: inout WireWriter) {
        writer.number(114)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `prepareAssetUpload`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(prepareAssetUpload byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `prepareAssetUpload`. The bytes of its message must follow.
    @inlinable
    package static func begin(prepareAssetUpload byteCount: Int, to writer: inout WireWriter) {
        writer.number(162)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `uploadAssetChunk`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(uploadAssetChunk byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `uploadAssetChunk`. The bytes of its message must follow.
    @inlinable
    package static func begin(uploadAssetChunk byteCount: Int, to writer: inout WireWriter) {
        writer.number(170)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchAssetChunk`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchAssetChunk byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchAssetChunk`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchAssetChunk byteCount: Int, to writer: inout WireWriter) {
        writer.number(178)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchKeys`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchKeys byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchKeys`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchKeys byteCount: Int, to writer: inout WireWriter) {
        writer.number(242)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `saveAccountKey`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saveAccountKey byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saveAccountKey`. The bytes of its message must follow.
    @inlinable
    package static func begin(saveAccountKey byteCount: Int, to writer: inout WireWriter) {
        writer.number(250)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `saveZoneKey`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saveZoneKey byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saveZoneKey`. The bytes of its message must follow.
    @inlinable
    package static func begin(saveZoneKey byteCount: Int, to writer: inout WireWriter) {
        writer.number(258)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `grantKeys`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(grantKeys byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `grantKeys`. The bytes of its message must follow.
    @inlinable
    package static func begin(grantKeys byteCount: Int, to writer: inout WireWriter) {
        writer.number(266)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchShareMetadata`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchShareMetadata byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchShareMetadata`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchShareMetadata byteCount: Int, to writer: inout WireWriter) {
        writer.number(322)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `acceptShares`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(acceptShares byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `acceptShares`. The bytes of its message must follow.
    @inlinable
    package static func begin(acceptShares byteCount: Int, to writer: inout WireWriter) {
        writer.number(330)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchShareParticipants`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchShareParticipants byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchShareParticipants`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchShareParticipants byteCount: Int, to writer: inout WireWriter) {
        writer.number(338)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `requestShareAccess`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(requestShareAccess byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `requestShareAccess`. The bytes of its message must follow.
    @inlinable
    package static func begin(requestShareAccess byteCount: Int, to writer: inout WireWriter) {
        writer.number(346)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `joinPresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(joinPresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `joinPresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(joinPresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(402)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `publishPresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(publishPresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `publishPresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(publishPresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(410)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `leavePresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(leavePresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `leavePresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(leavePresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(418)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `operationGroup`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(operationGroup byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `operationGroup`. The bytes of its message must follow.
    @inlinable
    package static func begin(operationGroup byteCount: Int, to writer: inout WireWriter) {
        writer.number(482)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `pendingReport`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(pendingReport byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `pendingReport`. The bytes of its message must follow.
    @inlinable
    package static func begin(pendingReport byteCount: Int, to writer: inout WireWriter) {
        writer.number(498)
        writer.number(UInt64(byteCount))
    }
}

/// What ``WireClientEnvelope/request`` holds. The raw values are the places among all.
package enum WireRequestKind: Int, CaseIterable, Sendable {
    case hello
    case modifyRecords
    case fetchRecords
    case modifyZones
    case fetchZones
    case fetchDatabaseChanges
    case fetchZoneChanges
    case modifySubscriptions
    case fetchSubscriptions
    case queryRecords
    case verifyZone
    case prepareAssetUpload
    case uploadAssetChunk
    case fetchAssetChunk
    case fetchKeys
    case saveAccountKey
    case saveZoneKey
    case grantKeys
    case fetchShareMetadata
    case acceptShares
    case fetchShareParticipants
    case requestShareAccess
    case joinPresence
    case publishPresence
    case leavePresence
    /// None was read: there is none, this version does not know it, or it was refused before.
    case unread

    /// The name of the field.
    package var name: String {
        switch self {
        case .hello: "hello"
        case .modifyRecords: "modify_records"
        case .fetchRecords: "fetch_records"
        case .modifyZones: "modify_zones"
        case .fetchZones: "fetch_zones"
        case .fetchDatabaseChanges: "fetch_database_changes"
        case .fetchZoneChanges: "fetch_zone_changes"
        case .modifySubscriptions: "modify_subscriptions"
        case .fetchSubscriptions: "fetch_subscriptions"
        case .queryRecords: "query_records"
        case .verifyZone: "verify_zone"
        case .prepareAssetUpload: "prepare_asset_upload"
        case .uploadAssetChunk: "upload_asset_chunk"
        case .fetchAssetChunk: "fetch_asset_chunk"
        case .fetchKeys: "fetch_keys"
        case .saveAccountKey: "save_account_key"
        case .saveZoneKey: "save_zone_key"
        case .grantKeys: "grant_keys"
        case .fetchShareMetadata: "fetch_share_metadata"
        case .acceptShares: "accept_shares"
        case .fetchShareParticipants: "fetch_share_participants"
        case .requestShareAccess: "request_share_access"
        case .joinPresence: "join_presence"
        case .publishPresence: "publish_presence"
        case .leavePresence: "leave_presence"
        case .unread: "unread"
        }
    }
}

extension WireClientEnvelope.OneOfRequest {
    package var kind: WireRequestKind {
        switch self {
        case .hello: .hello
        case .modifyRecords: .modifyRecords
        case .fetchRecords: .fetchRecords
        case .modifyZones: .modifyZones
        case .fetchZones: .fetchZones
        case .fetchDatabaseChanges: .fetchDatabaseChanges
        case .fetchZoneChanges: .fetchZoneChanges
        case .modifySubscriptions: .modifySubscriptions
        case .fetchSubscriptions: .fetchSubscriptions
        case .queryRecords: .queryRecords
        case .verifyZone: .verifyZone
        case .prepareAssetUpload: .prepareAssetUpload
        case .uploadAssetChunk: .uploadAssetChunk
        case .fetchAssetChunk: .fetchAssetChunk
        case .fetchKeys: .fetchKeys
        case .saveAccountKey: .saveAccountKey
        case .saveZoneKey: .saveZoneKey
        case .grantKeys: .grantKeys
        case .fetchShareMetadata: .fetchShareMetadata
        case .acceptShares: .acceptShares
        case .fetchShareParticipants: .fetchShareParticipants
        case .requestShareAccess: .requestShareAccess
        case .joinPresence: .joinPresence
        case .publishPresence: .publishPresence
        case .leavePresence: .leavePresence
        }
    }
}

/// Operations that belong together, such as all operations of one tap.
@usableFromInline
package struct WireOperationGroup: WireMessage {
    /// Unique for each group.
    package var id = ""
    /// For people. It may be empty. Servers log only the beginning of a long one.
    package var name = ""

    @usableFromInline package init() {}
}

extension WireOperationGroup {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.id = try reader.text(atMost: 65_536)
            case 18: self.name = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !id.isEmpty {
            size += 1 + WireSize.text(id)
        }
        if !name.isEmpty {
            size += 1 + WireSize.text(name)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !id.isEmpty {
            writer.number(10)
            writer.text(id)
        }
        if !name.isEmpty {
            writer.number(18)
            writer.text(name)
        }
    }
}

/// What a server sends.
@usableFromInline
package struct WireServerEnvelope: WireMessage {
    /// The id of the request that it answers. 0 for a push.
    package var id: UInt64 = 0
    /// One of these, or none.
    package enum OneOfAnswer: Sendable, Equatable {
        /// The request failed as a whole.
        indirect case failure(WireFailure)
        indirect case hello(WireHelloAnswer)
        indirect case modifyRecords(WireModifyRecordsAnswer)
        indirect case fetchRecords(WireFetchRecordsAnswer)
        indirect case modifyZones(WireModifyZonesAnswer)
        indirect case fetchZones(WireFetchZonesAnswer)
        indirect case fetchDatabaseChanges(WireFetchDatabaseChangesAnswer)
        indirect case fetchZoneChanges(WireFetchZoneChangesAnswer)
        indirect case modifySubscriptions(WireModifySubscriptionsAnswer)
        indirect case fetchSubscriptions(WireFetchSubscriptionsAnswer)
        indirect case queryRecords(WireQueryRecordsAnswer)
        indirect case verifyZone(WireVerifyZoneAnswer)
        indirect case push(WirePush)
        indirect case prepareAssetUpload(WireAssetProgress)
        indirect case uploadAssetChunk(WireAssetProgress)
        indirect case fetchAssetChunk(WireAssetChunk)
        indirect case fetchKeys(WireFetchKeysAnswer)
        indirect case saveAccountKey(WireSaveAccountKeyAnswer)
        indirect case saveZoneKey(WireSaveZoneKeyAnswer)
        indirect case grantKeys(WireGrantKeysAnswer)
        indirect case fetchShareMetadata(WireFetchShareMetadataAnswer)
        indirect case acceptShares(WireAcceptSharesAnswer)
        indirect case fetchShareParticipants(WireFetchShareParticipantsAnswer)
        indirect case requestShareAccess(WireRequestShareAccessAnswer)
        indirect case joinPresence(WireJoinPresenceAnswer)
        indirect case publishPresence(WirePublishPresenceAnswer)
        indirect case leavePresence(WireLeavePresenceAnswer)
        indirect case presence(WirePresencePush)
    }

    package var answer: OneOfAnswer?

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = answer { value } else { WireFailure() }
        }
        set { answer = .failure(newValue) }
    }

    package var hello: WireHelloAnswer {
        get {
            if case .hello(let value)? = answer { value } else { WireHelloAnswer() }
        }
        set { answer = .hello(newValue) }
    }

    package var modifyRecords: WireModifyRecordsAnswer {
        get {
            if case .modifyRecords(let value)? = answer { value } else { WireModifyRecordsAnswer() }
        }
        set { answer = .modifyRecords(newValue) }
    }

    package var fetchRecords: WireFetchRecordsAnswer {
        get {
            if case .fetchRecords(let value)? = answer { value } else { WireFetchRecordsAnswer() }
        }
        set { answer = .fetchRecords(newValue) }
    }

    package var modifyZones: WireModifyZonesAnswer {
        get {
            if case .modifyZones(let value)? = answer { value } else { WireModifyZonesAnswer() }
        }
        set { answer = .modifyZones(newValue) }
    }

    package var fetchZones: WireFetchZonesAnswer {
        get {
            if case .fetchZones(let value)? = answer { value } else { WireFetchZonesAnswer() }
        }
        set { answer = .fetchZones(newValue) }
    }

    package var fetchDatabaseChanges: WireFetchDatabaseChangesAnswer {
        get {
            if case .fetchDatabaseChanges(let value)? = answer { value } else { WireFetchDatabaseChangesAnswer() }
        }
        set { answer = .fetchDatabaseChanges(newValue) }
    }

    package var fetchZoneChanges: WireFetchZoneChangesAnswer {
        get {
            if case .fetchZoneChanges(let value)? = answer { value } else { WireFetchZoneChangesAnswer() }
        }
        set { answer = .fetchZoneChanges(newValue) }
    }

    package var modifySubscriptions: WireModifySubscriptionsAnswer {
        get {
            if case .modifySubscriptions(let value)? = answer { value } else { WireModifySubscriptionsAnswer() }
        }
        set { answer = .modifySubscriptions(newValue) }
    }

    package var fetchSubscriptions: WireFetchSubscriptionsAnswer {
        get {
            if case .fetchSubscriptions(let value)? = answer { value } else { WireFetchSubscriptionsAnswer() }
        }
        set { answer = .fetchSubscriptions(newValue) }
    }

    package var queryRecords: WireQueryRecordsAnswer {
        get {
            if case .queryRecords(let value)? = answer { value } else { WireQueryRecordsAnswer() }
        }
        set { answer = .queryRecords(newValue) }
    }

    package var verifyZone: WireVerifyZoneAnswer {
        get {
            if case .verifyZone(let value)? = answer { value } else { WireVerifyZoneAnswer() }
        }
        set { answer = .verifyZone(newValue) }
    }

    package var push: WirePush {
        get {
            if case .push(let value)? = answer { value } else { WirePush() }
        }
        set { answer = .push(newValue) }
    }

    package var prepareAssetUpload: WireAssetProgress {
        get {
            if case .prepareAssetUpload(let value)? = answer { value } else { WireAssetProgress() }
        }
        set { answer = .prepareAssetUpload(newValue) }
    }

    package var uploadAssetChunk: WireAssetProgress {
        get {
            if case .uploadAssetChunk(let value)? = answer { value } else { WireAssetProgress() }
        }
        set { answer = .uploadAssetChunk(newValue) }
    }

    package var fetchAssetChunk: WireAssetChunk {
        get {
            if case .fetchAssetChunk(let value)? = answer { value } else { WireAssetChunk() }
        }
        set { answer = .fetchAssetChunk(newValue) }
    }

    package var fetchKeys: WireFetchKeysAnswer {
        get {
            if case .fetchKeys(let value)? = answer { value } else { WireFetchKeysAnswer() }
        }
        set { answer = .fetchKeys(newValue) }
    }

    package var saveAccountKey: WireSaveAccountKeyAnswer {
        get {
            if case .saveAccountKey(let value)? = answer { value } else { WireSaveAccountKeyAnswer() }
        }
        set { answer = .saveAccountKey(newValue) }
    }

    package var saveZoneKey: WireSaveZoneKeyAnswer {
        get {
            if case .saveZoneKey(let value)? = answer { value } else { WireSaveZoneKeyAnswer() }
        }
        set { answer = .saveZoneKey(newValue) }
    }

    package var grantKeys: WireGrantKeysAnswer {
        get {
            if case .grantKeys(let value)? = answer { value } else { WireGrantKeysAnswer() }
        }
        set { answer = .grantKeys(newValue) }
    }

    package var fetchShareMetadata: WireFetchShareMetadataAnswer {
        get {
            if case .fetchShareMetadata(let value)? = answer { value } else { WireFetchShareMetadataAnswer() }
        }
        set { answer = .fetchShareMetadata(newValue) }
    }

    package var acceptShares: WireAcceptSharesAnswer {
        get {
            if case .acceptShares(let value)? = answer { value } else { WireAcceptSharesAnswer() }
        }
        set { answer = .acceptShares(newValue) }
    }

    package var fetchShareParticipants: WireFetchShareParticipantsAnswer {
        get {
            if case .fetchShareParticipants(let value)? = answer { value } else { WireFetchShareParticipantsAnswer() }
        }
        set { answer = .fetchShareParticipants(newValue) }
    }

    package var requestShareAccess: WireRequestShareAccessAnswer {
        get {
            if case .requestShareAccess(let value)? = answer { value } else { WireRequestShareAccessAnswer() }
        }
        set { answer = .requestShareAccess(newValue) }
    }

    package var joinPresence: WireJoinPresenceAnswer {
        get {
            if case .joinPresence(let value)? = answer { value } else { WireJoinPresenceAnswer() }
        }
        set { answer = .joinPresence(newValue) }
    }

    package var publishPresence: WirePublishPresenceAnswer {
        get {
            if case .publishPresence(let value)? = answer { value } else { WirePublishPresenceAnswer() }
        }
        set { answer = .publishPresence(newValue) }
    }

    package var leavePresence: WireLeavePresenceAnswer {
        get {
            if case .leavePresence(let value)? = answer { value } else { WireLeavePresenceAnswer() }
        }
        set { answer = .leavePresence(newValue) }
    }

    package var presence: WirePresencePush {
        get {
            if case .presence(let value)? = answer { value } else { WirePresencePush() }
        }
        set { answer = .presence(newValue) }
    }

    /// How many pushes the server has sent over this connection, for a client that counts them (`Hello.counts_pushes`).
    /// With a push it is the push's number, from 1 on. An answer has it only while the last pushes are not
    /// acknowledged. With id 0 and no answer it is a reminder, which the client answers with `pushes_heard`. A client
    /// that has heard fewer has missed one, and fetches.
    package var pushesSent: UInt64 = 0

    @usableFromInline package init() {}
}

extension WireServerEnvelope {
    @usableFromInline package static var elementsInAllMax: Int { 131072 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.id = try reader.uint64()
            case 18:
                var value = self.failure
                self.answer = nil
                try reader.read(&value)
                self.answer = .failure(value)
            case 26:
                var value = self.hello
                self.answer = nil
                try reader.read(&value)
                self.answer = .hello(value)
            case 34:
                var value = self.modifyRecords
                self.answer = nil
                try reader.read(&value)
                self.answer = .modifyRecords(value)
            case 42:
                var value = self.fetchRecords
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchRecords(value)
            case 50:
                var value = self.modifyZones
                self.answer = nil
                try reader.read(&value)
                self.answer = .modifyZones(value)
            case 58:
                var value = self.fetchZones
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchZones(value)
            case 66:
                var value = self.fetchDatabaseChanges
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchDatabaseChanges(value)
            case 74:
                var value = self.fetchZoneChanges
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchZoneChanges(value)
            case 82:
                var value = self.modifySubscriptions
                self.answer = nil
                try reader.read(&value)
                self.answer = .modifySubscriptions(value)
            case 90:
                var value = self.fetchSubscriptions
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchSubscriptions(value)
            case 98:
                var value = self.queryRecords
                self.answer = nil
                try reader.read(&value)
                self.answer = .queryRecords(value)
            case 114:
                var value = self.verifyZone
                self.answer = nil
                try reader.read(&value)
                self.answer = .verifyZone(value)
            case 122:
                var value = self.push
                self.answer = nil
                try reader.read(&value)
                self.answer = .push(value)
            case 162:
                var value = self.prepareAssetUpload
                self.answer = nil
                try reader.read(&value)
                self.answer = .prepareAssetUpload(value)
            case 170:
                var value = self.uploadAssetChunk
                self.answer = nil
                try reader.read(&value)
                self.answer = .uploadAssetChunk(value)
            case 178:
                var value = self.fetchAssetChunk
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchAssetChunk(value)
            case 242:
                var value = self.fetchKeys
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchKeys(value)
            case 250:
                var value = self.saveAccountKey
                self.answer = nil
                try reader.read(&value)
                self.answer = .saveAccountKey(value)
            case 258:
                var value = self.saveZoneKey
                self.answer = nil
                try reader.read(&value)
                self.answer = .saveZoneKey(value)
            case 266:
                var value = self.grantKeys
                self.answer = nil
                try reader.read(&value)
                self.answer = .grantKeys(value)
            case 322:
                var value = self.fetchShareMetadata
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchShareMetadata(value)
            case 330:
                var value = self.acceptShares
                self.answer = nil
                try reader.read(&value)
                self.answer = .acceptShares(value)
            case 338:
                var value = self.fetchShareParticipants
                self.answer = nil
                try reader.read(&value)
                self.answer = .fetchShareParticipants(value)
            case 346:
                var value = self.requestShareAccess
                self.answer = nil
                try reader.read(&value)
                self.answer = .requestShareAccess(value)
            case 402:
                var value = self.joinPresence
                self.answer = nil
                try reader.read(&value)
                self.answer = .joinPresence(value)
            case 410:
                var value = self.publishPresence
                self.answer = nil
                try reader.read(&value)
                self.answer = .publishPresence(value)
            case 418:
                var value = self.leavePresence
                self.answer = nil
                try reader.read(&value)
                self.answer = .leavePresence(value)
            case 426:
                var value = self.presence
                self.answer = nil
                try reader.read(&value)
                self.answer = .presence(value)
            case 488: self.pushesSent = try reader.uint64()
            default: try reader.skip(tag, known: 0x203C0F03C070DFFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if id != 0 {
            size += 1 + WireSize.uint64(id)
        }
        switch answer {
        case .failure(let value)?:
            size += 1 + WireSize.message(value)
        case .hello(let value)?:
            size += 1 + WireSize.message(value)
        case .modifyRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .modifyZones(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchZones(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchDatabaseChanges(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchZoneChanges(let value)?:
            size += 1 + WireSize.message(value)
        case .modifySubscriptions(let value)?:
            size += 1 + WireSize.message(value)
        case .fetchSubscriptions(let value)?:
            size += 1 + WireSize.message(value)
        case .queryRecords(let value)?:
            size += 1 + WireSize.message(value)
        case .verifyZone(let value)?:
            size += 1 + WireSize.message(value)
        case .push(let value)?:
            size += 1 + WireSize.message(value)
        case .prepareAssetUpload(let value)?:
            size += 2 + WireSize.message(value)
        case .uploadAssetChunk(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchAssetChunk(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchKeys(let value)?:
            size += 2 + WireSize.message(value)
        case .saveAccountKey(let value)?:
            size += 2 + WireSize.message(value)
        case .saveZoneKey(let value)?:
            size += 2 + WireSize.message(value)
        case .grantKeys(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchShareMetadata(let value)?:
            size += 2 + WireSize.message(value)
        case .acceptShares(let value)?:
            size += 2 + WireSize.message(value)
        case .fetchShareParticipants(let value)?:
            size += 2 + WireSize.message(value)
        case .requestShareAccess(let value)?:
            size += 2 + WireSize.message(value)
        case .joinPresence(let value)?:
            size += 2 + WireSize.message(value)
        case .publishPresence(let value)?:
            size += 2 + WireSize.message(value)
        case .leavePresence(let value)?:
            size += 2 + WireSize.message(value)
        case .presence(let value)?:
            size += 2 + WireSize.message(value)
        case nil: break
        }
        if pushesSent != 0 {
            size += 2 + WireSize.uint64(pushesSent)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if id != 0 {
            writer.number(8)
            writer.uint64(id)
        }
        switch answer {
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case .hello(let value)?:
            writer.number(26)
            writer.message(value)
        case .modifyRecords(let value)?:
            writer.number(34)
            writer.message(value)
        case .fetchRecords(let value)?:
            writer.number(42)
            writer.message(value)
        case .modifyZones(let value)?:
            writer.number(50)
            writer.message(value)
        case .fetchZones(let value)?:
            writer.number(58)
            writer.message(value)
        case .fetchDatabaseChanges(let value)?:
            writer.number(66)
            writer.message(value)
        case .fetchZoneChanges(let value)?:
            writer.number(74)
            writer.message(value)
        case .modifySubscriptions(let value)?:
            writer.number(82)
            writer.message(value)
        case .fetchSubscriptions(let value)?:
            writer.number(90)
            writer.message(value)
        case .queryRecords(let value)?:
            writer.number(98)
            writer.message(value)
        case .verifyZone(let value)?:
            writer.number(114)
            writer.message(value)
        case .push(let value)?:
            writer.number(122)
            writer.message(value)
        case .prepareAssetUpload(let value)?:
            writer.number(162)
            writer.message(value)
        case .uploadAssetChunk(let value)?:
            writer.number(170)
            writer.message(value)
        case .fetchAssetChunk(let value)?:
            writer.number(178)
            writer.message(value)
        case .fetchKeys(let value)?:
            writer.number(242)
            writer.message(value)
        case .saveAccountKey(let value)?:
            writer.number(250)
            writer.message(value)
        case .saveZoneKey(let value)?:
            writer.number(258)
            writer.message(value)
        case .grantKeys(let value)?:
            writer.number(266)
            writer.message(value)
        case .fetchShareMetadata(let value)?:
            writer.number(322)
            writer.message(value)
        case .acceptShares(let value)?:
            writer.number(330)
            writer.message(value)
        case .fetchShareParticipants(let value)?:
            writer.number(338)
            writer.message(value)
        case .requestShareAccess(let value)?:
            writer.number(346)
            writer.message(value)
        case .joinPresence(let value)?:
            writer.number(402)
            writer.message(value)
        case .publishPresence(let value)?:
            writer.number(410)
            writer.message(value)
        case .leavePresence(let value)?:
            writer.number(418)
            writer.message(value)
        case .presence(let value)?:
            writer.number(426)
            writer.message(value)
        case nil: break
        }
        if pushesSent != 0 {
            writer.number(488)
            writer.uint64(pushesSent)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireServerEnvelope {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var id: UInt32 { 8 }
        @inlinable package static var failure: UInt32 { 18 }
        @inlinable package static var hello: UInt32 { 26 }
        @inlinable package static var modifyRecords: UInt32 { 34 }
        @inlinable package static var fetchRecords: UInt32 { 42 }
        @inlinable package static var modifyZones: UInt32 { 50 }
        @inlinable package static var fetchZones: UInt32 { 58 }
        @inlinable package static var fetchDatabaseChanges: UInt32 { 66 }
        @inlinable package static var fetchZoneChanges: UInt32 { 74 }
        @inlinable package static var modifySubscriptions: UInt32 { 82 }
        @inlinable package static var fetchSubscriptions: UInt32 { 90 }
        @inlinable package static var queryRecords: UInt32 { 98 }
        @inlinable package static var verifyZone: UInt32 { 114 }
        @inlinable package static var push: UInt32 { 122 }
        @inlinable package static var prepareAssetUpload: UInt32 { 162 }
        @inlinable package static var uploadAssetChunk: UInt32 { 170 }
        @inlinable package static var fetchAssetChunk: UInt32 { 178 }
        @inlinable package static var fetchKeys: UInt32 { 242 }
        @inlinable package static var saveAccountKey: UInt32 { 250 }
        @inlinable package static var saveZoneKey: UInt32 { 258 }
        @inlinable package static var grantKeys: UInt32 { 266 }
        @inlinable package static var fetchShareMetadata: UInt32 { 322 }
        @inlinable package static var acceptShares: UInt32 { 330 }
        @inlinable package static var fetchShareParticipants: UInt32 { 338 }
        @inlinable package static var requestShareAccess: UInt32 { 346 }
        @inlinable package static var joinPresence: UInt32 { 402 }
        @inlinable package static var publishPresence: UInt32 { 410 }
        @inlinable package static var leavePresence: UInt32 { 418 }
        @inlinable package static var presence: UInt32 { 426 }
        @inlinable package static var pushesSent: UInt32 { 488 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(id: UInt64 = 0, pushesSent: UInt64 = 0, to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if id != 0 { size += 1 + WireSize.uint64(id) }
            if pushesSent != 0 { size += 2 + WireSize.uint64(pushesSent) }
            return writer.count(size)
        }
        if id != 0 {
            writer.number(8)
            writer.uint64(id)
        }
        if pushesSent != 0 {
            writer.number(488)
            writer.uint64(pushesSent)
        }
    }

    /// The size of the field `failure`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(failure byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `failure`. The bytes of its message must follow.
    @inlinable
    package static func begin(failure byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `hello`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(hello byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `hello`. The bytes of its message must follow.
    @inlinable
    package static func begin(hello byteCount: Int, to writer: inout WireWriter) {
        writer.number(26)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifyRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifyRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifyRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifyRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(34)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(42)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifyZones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifyZones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifyZones`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifyZones byteCount: Int, to writer: inout WireWriter) {
        writer.number(50)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchZones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchZones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchZones`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchZones byteCount: Int, to writer: inout WireWriter) {
        writer.number(58)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchDatabaseChanges`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchDatabaseChanges byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchDatabaseChanges`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchDatabaseChanges byteCount: Int, to writer: inout WireWriter) {
        writer.number(66)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchZoneChanges`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchZoneChanges byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchZoneChanges`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchZoneChanges byteCount: Int, to writer: inout WireWriter) {
        writer.number(74)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `modifySubscriptions`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(modifySubscriptions byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `modifySubscriptions`. The bytes of its message must follow.
    @inlinable
    package static func begin(modifySubscriptions byteCount: Int, to writer: inout WireWriter) {
        writer.number(82)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchSubscriptions`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchSubscriptions byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchSubscriptions`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchSubscriptions byteCount: Int, to writer: inout WireWriter) {
        writer.number(90)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `queryRecords`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(queryRecords byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `queryRecords`. The bytes of its message must follow.
    @inlinable
    package static func begin(queryRecords byteCount: Int, to writer: inout WireWriter) {
        writer.number(98)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `verifyZone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(verifyZone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `verifyZone`. The bytes of its message must follow.
    @inlinable
    package static func begin(verifyZone byteCount: Int, to writer: inout WireWriter) {
        writer.number(114)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `push`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(push byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `push`. The bytes of its message must follow.
    @inlinable
    package static func begin(push byteCount: Int, to writer: inout WireWriter) {
        writer.number(122)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `prepareAssetUpload`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(prepareAssetUpload byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `prepareAssetUpload`. The bytes of its message must follow.
    @inlinable
    package static func begin(prepareAssetUpload byteCount: Int, to writer: inout WireWriter) {
        writer.number(162)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `uploadAssetChunk`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(uploadAssetChunk byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `uploadAssetChunk`. The bytes of its message must follow.
    @inlinable
    package static func begin(uploadAssetChunk byteCount: Int, to writer: inout WireWriter) {
        writer.number(170)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchAssetChunk`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchAssetChunk byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchAssetChunk`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchAssetChunk byteCount: Int, to writer: inout WireWriter) {
        writer.number(178)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchKeys`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchKeys byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchKeys`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchKeys byteCount: Int, to writer: inout WireWriter) {
        writer.number(242)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `saveAccountKey`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saveAccountKey byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saveAccountKey`. The bytes of its message must follow.
    @inlinable
    package static func begin(saveAccountKey byteCount: Int, to writer: inout WireWriter) {
        writer.number(250)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `saveZoneKey`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saveZoneKey byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saveZoneKey`. The bytes of its message must follow.
    @inlinable
    package static func begin(saveZoneKey byteCount: Int, to writer: inout WireWriter) {
        writer.number(258)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `grantKeys`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(grantKeys byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `grantKeys`. The bytes of its message must follow.
    @inlinable
    package static func begin(grantKeys byteCount: Int, to writer: inout WireWriter) {
        writer.number(266)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchShareMetadata`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchShareMetadata byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchShareMetadata`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchShareMetadata byteCount: Int, to writer: inout WireWriter) {
        writer.number(322)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `acceptShares`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(acceptShares byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `acceptShares`. The bytes of its message must follow.
    @inlinable
    package static func begin(acceptShares byteCount: Int, to writer: inout WireWriter) {
        writer.number(330)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `fetchShareParticipants`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(fetchShareParticipants byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `fetchShareParticipants`. The bytes of its message must follow.
    @inlinable
    package static func begin(fetchShareParticipants byteCount: Int, to writer: inout WireWriter) {
        writer.number(338)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `requestShareAccess`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(requestShareAccess byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `requestShareAccess`. The bytes of its message must follow.
    @inlinable
    package static func begin(requestShareAccess byteCount: Int, to writer: inout WireWriter) {
        writer.number(346)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `joinPresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(joinPresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `joinPresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(joinPresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(402)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `publishPresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(publishPresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `publishPresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(publishPresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(410)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `leavePresence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(leavePresence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `leavePresence`. The bytes of its message must follow.
    @inlinable
    package static func begin(leavePresence byteCount: Int, to writer: inout WireWriter) {
        writer.number(418)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `presence`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(presence byteCount: Int) -> Int { 2 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `presence`. The bytes of its message must follow.
    @inlinable
    package static func begin(presence byteCount: Int, to writer: inout WireWriter) {
        writer.number(426)
        writer.number(UInt64(byteCount))
    }
}
