// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Subscriptions.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// A request to get pushes when something changes, until it is deleted (section 10 of the rules).
@usableFromInline
package struct WireSubscription: WireMessage {
    /// Unique in the user's database.
    package var id = ""
    package var kind = WireSubscriptionKind()
    /// Only changes of this record type. Empty: all.
    package var recordType = ""
    package var notificationInfo: WireNotificationInfo {
        get { presentNotificationInfo ?? WireNotificationInfo() }
        set { presentNotificationInfo = newValue }
    }
    package var hasNotificationInfo: Bool { presentNotificationInfo != nil }
    private var presentNotificationInfo: WireNotificationInfo?
    /// The zone, for a subscription to a zone. For one to a query: only records of this zone. Absent: those of all
    /// zones.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// For a query: its condition, the bytes of a Predicate (Queries.proto). Empty: all records of the type. They are
    /// bytes and no message, so that each predicate of an answer has bounds of its own. The server keeps them and
    /// returns them as they came.
    package var predicate: [UInt8] = []
    /// For a query: which changes fire it. Bits as in CKQuerySubscription.Options. Unknown bits are refused.
    package var options: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireSubscription {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.id = try reader.text(atMost: 65_536)
            case 16: self.kind = try reader.choice()
            case 26: self.recordType = try reader.text(atMost: 65_536)
            case 34:
                var value = self.presentNotificationInfo ?? WireNotificationInfo()
                self.presentNotificationInfo = nil
                try reader.read(&value)
                self.presentNotificationInfo = value
            case 42:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 50: self.predicate = try reader.content(atMost: 131_072)
            case 56: self.options = try reader.uint32()
            default: try reader.skip(tag, known: 0xFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !id.isEmpty {
            size += 1 + WireSize.text(id)
        }
        if kind != WireSubscriptionKind() {
            size += 1 + WireSize.choice(kind)
        }
        if !recordType.isEmpty {
            size += 1 + WireSize.text(recordType)
        }
        if let presentNotificationInfo {
            size += 1 + WireSize.message(presentNotificationInfo)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !predicate.isEmpty {
            size += 1 + WireSize.content(predicate)
        }
        if options != 0 {
            size += 1 + WireSize.uint32(options)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !id.isEmpty {
            writer.number(10)
            writer.text(id)
        }
        if kind != WireSubscriptionKind() {
            writer.number(16)
            writer.choice(kind)
        }
        if !recordType.isEmpty {
            writer.number(26)
            writer.text(recordType)
        }
        if let presentNotificationInfo {
            writer.number(34)
            writer.message(presentNotificationInfo)
        }
        if let presentZone {
            writer.number(42)
            writer.message(presentZone)
        }
        if !predicate.isEmpty {
            writer.number(50)
            writer.content(predicate)
        }
        if options != 0 {
            writer.number(56)
            writer.uint32(options)
        }
    }
}

/// How a push is shown to the user. The server keeps it and returns it as it came.
@usableFromInline
package struct WireNotificationInfo: WireMessage {
    package var alertBody = ""
    package var alertLocalizationKey = ""
    package var alertLocalizationArgs: [String] = []
    package var alertActionLocalizationKey = ""
    package var alertLaunchImage = ""
    package var soundName = ""
    package var shouldBadge = false
    package var shouldSendContentAvailable = false
    package var shouldSendMutableContent = false
    package var title = ""
    package var titleLocalizationKey = ""
    package var titleLocalizationArgs: [String] = []
    package var subtitle = ""
    package var subtitleLocalizationKey = ""
    package var subtitleLocalizationArgs: [String] = []
    package var category = ""
    package var collapseIDKey = ""
    package var desiredKeys: [String] = []
    /// Fields that this program does not know.
    package var unknownFields: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireNotificationInfo {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.alertBody = try reader.text(atMost: 65_536)
            case 18: self.alertLocalizationKey = try reader.text(atMost: 65_536)
            case 26: try reader.append(to: &self.alertLocalizationArgs, atMost: 2_048, bytesMax: 65_536)
            case 34: self.alertActionLocalizationKey = try reader.text(atMost: 65_536)
            case 42: self.alertLaunchImage = try reader.text(atMost: 65_536)
            case 50: self.soundName = try reader.text(atMost: 65_536)
            case 56: self.shouldBadge = try reader.flag()
            case 64: self.shouldSendContentAvailable = try reader.flag()
            case 72: self.shouldSendMutableContent = try reader.flag()
            case 82: self.title = try reader.text(atMost: 65_536)
            case 90: self.titleLocalizationKey = try reader.text(atMost: 65_536)
            case 98: try reader.append(to: &self.titleLocalizationArgs, atMost: 2_048, bytesMax: 65_536)
            case 106: self.subtitle = try reader.text(atMost: 65_536)
            case 114: self.subtitleLocalizationKey = try reader.text(atMost: 65_536)
            case 122: try reader.append(to: &self.subtitleLocalizationArgs, atMost: 2_048, bytesMax: 65_536)
            case 130: self.category = try reader.text(atMost: 65_536)
            case 138: self.collapseIDKey = try reader.text(atMost: 65_536)
            case 146: try reader.append(to: &self.desiredKeys, atMost: 2_048, bytesMax: 65_536)
            default: try reader.keep(tag, known: 0x7FFFE, in: &unknownFields)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = unknownFields.count
        if !alertBody.isEmpty {
            size += 1 + WireSize.text(alertBody)
        }
        if !alertLocalizationKey.isEmpty {
            size += 1 + WireSize.text(alertLocalizationKey)
        }
        for value in alertLocalizationArgs {
            size += 1 + WireSize.text(value)
        }
        if !alertActionLocalizationKey.isEmpty {
            size += 1 + WireSize.text(alertActionLocalizationKey)
        }
        if !alertLaunchImage.isEmpty {
            size += 1 + WireSize.text(alertLaunchImage)
        }
        if !soundName.isEmpty {
            size += 1 + WireSize.text(soundName)
        }
        if shouldBadge {
            size += 1 + WireSize.flag(shouldBadge)
        }
        if shouldSendContentAvailable {
            size += 1 + WireSize.flag(shouldSendContentAvailable)
        }
        if shouldSendMutableContent {
            size += 1 + WireSize.flag(shouldSendMutableContent)
        }
        if !title.isEmpty {
            size += 1 + WireSize.text(title)
        }
        if !titleLocalizationKey.isEmpty {
            size += 1 + WireSize.text(titleLocalizationKey)
        }
        for value in titleLocalizationArgs {
            size += 1 + WireSize.text(value)
        }
        if !subtitle.isEmpty {
            size += 1 + WireSize.text(subtitle)
        }
        if !subtitleLocalizationKey.isEmpty {
            size += 1 + WireSize.text(subtitleLocalizationKey)
        }
        for value in subtitleLocalizationArgs {
            size += 1 + WireSize.text(value)
        }
        if !category.isEmpty {
            size += 2 + WireSize.text(category)
        }
        if !collapseIDKey.isEmpty {
            size += 2 + WireSize.text(collapseIDKey)
        }
        for value in desiredKeys {
            size += 2 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !alertBody.isEmpty {
            writer.number(10)
            writer.text(alertBody)
        }
        if !alertLocalizationKey.isEmpty {
            writer.number(18)
            writer.text(alertLocalizationKey)
        }
        for value in alertLocalizationArgs {
            writer.number(26)
            writer.text(value)
        }
        if !alertActionLocalizationKey.isEmpty {
            writer.number(34)
            writer.text(alertActionLocalizationKey)
        }
        if !alertLaunchImage.isEmpty {
            writer.number(42)
            writer.text(alertLaunchImage)
        }
        if !soundName.isEmpty {
            writer.number(50)
            writer.text(soundName)
        }
        if shouldBadge {
            writer.number(56)
            writer.flag(shouldBadge)
        }
        if shouldSendContentAvailable {
            writer.number(64)
            writer.flag(shouldSendContentAvailable)
        }
        if shouldSendMutableContent {
            writer.number(72)
            writer.flag(shouldSendMutableContent)
        }
        if !title.isEmpty {
            writer.number(82)
            writer.text(title)
        }
        if !titleLocalizationKey.isEmpty {
            writer.number(90)
            writer.text(titleLocalizationKey)
        }
        for value in titleLocalizationArgs {
            writer.number(98)
            writer.text(value)
        }
        if !subtitle.isEmpty {
            writer.number(106)
            writer.text(subtitle)
        }
        if !subtitleLocalizationKey.isEmpty {
            writer.number(114)
            writer.text(subtitleLocalizationKey)
        }
        for value in subtitleLocalizationArgs {
            writer.number(122)
            writer.text(value)
        }
        if !category.isEmpty {
            writer.number(130)
            writer.text(category)
        }
        if !collapseIDKey.isEmpty {
            writer.number(138)
            writer.text(collapseIDKey)
        }
        for value in desiredKeys {
            writer.number(146)
            writer.text(value)
        }
        writer.raw(unknownFields)
    }
}

/// Saves and deletes subscriptions.
@usableFromInline
package struct WireModifySubscriptions: WireMessage {
    package var database = WireDatabaseScope()
    package var saves: [WireSubscription] = []
    /// Subscription IDs.
    package var deletes: [String] = []

    @usableFromInline package init() {}
}

extension WireModifySubscriptions {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: try reader.append(to: &self.saves, atMost: 4_096)
            case 26: try reader.append(to: &self.deletes, atMost: 4_096, bytesMax: 65_536)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        for value in saves {
            size += 1 + WireSize.message(value)
        }
        for value in deletes {
            size += 1 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        for value in saves {
            writer.number(18)
            writer.message(value)
        }
        for value in deletes {
            writer.number(26)
            writer.text(value)
        }
    }
}

/// The outcome of a ModifySubscriptions: one result for each save and each delete, in the order of the request.
@usableFromInline
package struct WireModifySubscriptionsAnswer: WireMessage {
    package var saves: [WireSubscriptionResult] = []
    package var deletes: [WireSubscriptionResult] = []

    @usableFromInline package init() {}
}

extension WireModifySubscriptionsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.saves, atMost: 65_536)
            case 18: try reader.append(to: &self.deletes, atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in saves {
            size += 1 + WireSize.message(value)
        }
        for value in deletes {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in saves {
            writer.number(10)
            writer.message(value)
        }
        for value in deletes {
            writer.number(18)
            writer.message(value)
        }
    }
}

/// Asks for subscriptions.
@usableFromInline
package struct WireFetchSubscriptions: WireMessage {
    package var database = WireDatabaseScope()
    /// Subscription IDs. Empty: all subscriptions of this database.
    package var ids: [String] = []
    /// From the previous answer, for all subscriptions only. Empty: from the first one.
    package var cursor: [UInt8] = []
    /// Whether the client asks again for what an answer leaves out. Older clients do not: if the subscriptions
    /// do not fit into one answer, they get LIMIT_EXCEEDED.
    package var inPages = false

    @usableFromInline package init() {}
}

extension WireFetchSubscriptions {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: try reader.append(to: &self.ids, atMost: 4_096, bytesMax: 65_536)
            case 26: self.cursor = try reader.content(atMost: 1_024)
            case 32: self.inPages = try reader.flag()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        for value in ids {
            size += 1 + WireSize.text(value)
        }
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
        }
        if inPages {
            size += 1 + WireSize.flag(inPages)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        for value in ids {
            writer.number(18)
            writer.text(value)
        }
        if !cursor.isEmpty {
            writer.number(26)
            writer.content(cursor)
        }
        if inPages {
            writer.number(32)
            writer.flag(inPages)
        }
    }
}

/// The outcome of a FetchSubscriptions.
@usableFromInline
package struct WireFetchSubscriptionsAnswer: WireMessage {
    /// In the order of the request. They take at most about 128 KiB, and cover fewer IDs if there is more, but at least
    /// one. Then ask again for the rest. If the request named none: one page of all subscriptions, by their IDs.
    package var subscriptions: [WireSubscriptionResult] = []
    /// For all subscriptions: where to go on. Empty: there is no more. It is opaque.
    package var cursor: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireFetchSubscriptionsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.subscriptions, atMost: 65_536)
            case 18: self.cursor = try reader.content()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in subscriptions {
            size += 1 + WireSize.message(value)
        }
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in subscriptions {
            writer.number(10)
            writer.message(value)
        }
        if !cursor.isEmpty {
            writer.number(18)
            writer.content(cursor)
        }
    }
}

/// A subscription, or why it was not saved, deleted or found.
@usableFromInline
package struct WireSubscriptionResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case subscription(WireSubscription)
        case failure(WireFailure)
        case done(WireDone)
    }

    package var result: OneOfResult?

    package var subscription: WireSubscription {
        get {
            if case .subscription(let value)? = result { value } else { WireSubscription() }
        }
        set { result = .subscription(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    package var done: WireDone {
        get {
            if case .done(let value)? = result { value } else { WireDone() }
        }
        set { result = .done(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireSubscriptionResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.subscription
                self.result = nil
                try reader.read(&value)
                self.result = .subscription(value)
            case 18:
                var value = self.failure
                self.result = nil
                try reader.read(&value)
                self.result = .failure(value)
            case 26:
                var value = self.done
                self.result = nil
                try reader.read(&value)
                self.result = .done(value)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch result {
        case .subscription(let value)?:
            size += 1 + WireSize.message(value)
        case .failure(let value)?:
            size += 1 + WireSize.message(value)
        case .done(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch result {
        case .subscription(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case .done(let value)?:
            writer.number(26)
            writer.message(value)
        case nil: break
        }
    }
}

/// Tells a client that something changed and that it should fetch. A push is a hint, and may be lost.
/// The client knows the rest of a notification: its container, and the owner of the subscription, who is its own user.
@usableFromInline
package struct WirePush: WireMessage {
    package var subscriptionID = ""
    package var database = WireDatabaseScope()
    package var kind = WireSubscriptionKind()
    /// The zones that changed, if the server knows them. A fetch of the database's changes names all of them. For a
    /// query: none.
    package var zones: [WireZoneID] = []
    /// The changes themselves, if the server believes that the client has read everything before them.
    package var changes: WirePushedChanges {
        get { presentChanges ?? WirePushedChanges() }
        set { presentChanges = newValue }
    }
    package var hasChanges: Bool { presentChanges != nil }
    private var presentChanges: WirePushedChanges?
    /// For a query: what happened to which record. Absent: records of the query may have changed, and `is_pruned` is
    /// set.
    package var query: WireQueryNews {
        get { presentQuery ?? WireQueryNews() }
        set { presentQuery = newValue }
    }
    package var hasQuery: Bool { presentQuery != nil }
    private var presentQuery: WireQueryNews?
    /// What the user is shown: the subscription's NotificationInfo, but for its `desired_keys`. Of a query, the
    /// arguments of the localisation keys are the values of the fields, and `collapse_id_key` is the value of its field
    /// . Absent: the push is silent.
    package var alert: WireNotificationInfo {
        get { presentAlert ?? WireNotificationInfo() }
        set { presentAlert = newValue }
    }
    package var hasAlert: Bool { presentAlert != nil }
    private var presentAlert: WireNotificationInfo?
    /// Whether something was left out, because it was too long, or because the server does not know what
    /// happened.
    package var isPruned = false

    @usableFromInline package init() {}
}

extension WirePush {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.subscriptionID = try reader.text()
            case 16: self.database = try reader.choice()
            case 24: self.kind = try reader.choice()
            case 34: try reader.append(to: &self.zones, atMost: 65_536)
            case 42:
                var value = self.presentChanges ?? WirePushedChanges()
                self.presentChanges = nil
                try reader.read(&value)
                self.presentChanges = value
            case 50:
                var value = self.presentQuery ?? WireQueryNews()
                self.presentQuery = nil
                try reader.read(&value)
                self.presentQuery = value
            case 58:
                var value = self.presentAlert ?? WireNotificationInfo()
                self.presentAlert = nil
                try reader.read(&value)
                self.presentAlert = value
            case 64: self.isPruned = try reader.flag()
            default: try reader.skip(tag, known: 0x1FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !subscriptionID.isEmpty {
            size += 1 + WireSize.text(subscriptionID)
        }
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if kind != WireSubscriptionKind() {
            size += 1 + WireSize.choice(kind)
        }
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        if let presentChanges {
            size += 1 + WireSize.message(presentChanges)
        }
        if let presentQuery {
            size += 1 + WireSize.message(presentQuery)
        }
        if let presentAlert {
            size += 1 + WireSize.message(presentAlert)
        }
        if isPruned {
            size += 1 + WireSize.flag(isPruned)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !subscriptionID.isEmpty {
            writer.number(10)
            writer.text(subscriptionID)
        }
        if database != WireDatabaseScope() {
            writer.number(16)
            writer.choice(database)
        }
        if kind != WireSubscriptionKind() {
            writer.number(24)
            writer.choice(kind)
        }
        for value in zones {
            writer.number(34)
            writer.message(value)
        }
        if let presentChanges {
            writer.number(42)
            writer.message(presentChanges)
        }
        if let presentQuery {
            writer.number(50)
            writer.message(presentQuery)
        }
        if let presentAlert {
            writer.number(58)
            writer.message(presentAlert)
        }
        if isPruned {
            writer.number(64)
            writer.flag(isPruned)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WirePush {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var subscriptionID: UInt32 { 10 }
        @inlinable package static var database: UInt32 { 16 }
        @inlinable package static var kind: UInt32 { 24 }
        @inlinable package static var zones: UInt32 { 34 }
        @inlinable package static var changes: UInt32 { 42 }
        @inlinable package static var query: UInt32 { 50 }
        @inlinable package static var alert: UInt32 { 58 }
        @inlinable package static var isPruned: UInt32 { 64 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(
        subscriptionID: String = "",
        database: WireDatabaseScope = WireDatabaseScope(),
        kind: WireSubscriptionKind = WireSubscriptionKind(),
        isPruned: Bool = false,
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if !subscriptionID.isEmpty { size += 1 + WireSize.text(subscriptionID) }
            if database != WireDatabaseScope() { size += 1 + WireSize.choice(database) }
            if kind != WireSubscriptionKind() { size += 1 + WireSize.choice(kind) }
            if isPruned { size += 1 + WireSize.flag(isPruned) }
            return writer.count(size)
        }
        if !subscriptionID.isEmpty {
            writer.number(10)
            writer.text(subscriptionID)
        }
        if database != WireDatabaseScope() {
            writer.number(16)
            writer.choice(database)
        }
        if kind != WireSubscriptionKind() {
            writer.number(24)
            writer.choice(kind)
        }
        if isPruned {
            writer.number(64)
            writer.flag(isPruned)
        }
    }

    /// The size of the field `zones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zones`. The bytes of its message must follow.
    @inlinable
    package static func begin(zones byteCount: Int, to writer: inout WireWriter) {
        writer.number(34)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `changes`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(changes byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `changes`. The bytes of its message must follow.
    @inlinable
    package static func begin(changes byteCount: Int, to writer: inout WireWriter) {
        writer.number(42)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `query`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(query byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `query`. The bytes of its message must follow.
    @inlinable
    package static func begin(query byteCount: Int, to writer: inout WireWriter) {
        writer.number(50)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `alert`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(alert byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `alert`. The bytes of its message must follow.
    @inlinable
    package static func begin(alert byteCount: Int, to writer: inout WireWriter) {
        writer.number(58)
        writer.number(UInt64(byteCount))
    }
}

/// What happened to one record that a subscription's query finds. What was left out for its length is missing.
@usableFromInline
package struct WireQueryNews: WireMessage {
    package var reason = WireQueryNewsReason()
    package var recordName = ""
    /// The zone of the record. It is there if `record_name` is.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// A FieldMap (Fields.proto) of the `desired_keys` that the record has after the change. Long strings are cut
    /// . Empty for a deletion.
    package var fields: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireQueryNews {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.reason = try reader.choice()
            case 18: self.recordName = try reader.text()
            case 26:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 34: self.fields = try reader.content()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if reason != WireQueryNewsReason() {
            size += 1 + WireSize.choice(reason)
        }
        if !recordName.isEmpty {
            size += 1 + WireSize.text(recordName)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !fields.isEmpty {
            size += 1 + WireSize.content(fields)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if reason != WireQueryNewsReason() {
            writer.number(8)
            writer.choice(reason)
        }
        if !recordName.isEmpty {
            writer.number(18)
            writer.text(recordName)
        }
        if let presentZone {
            writer.number(26)
            writer.message(presentZone)
        }
        if !fields.isEmpty {
            writer.number(34)
            writer.content(fields)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireQueryNews {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var reason: UInt32 { 8 }
        @inlinable package static var recordName: UInt32 { 18 }
        @inlinable package static var zone: UInt32 { 26 }
        @inlinable package static var fields: UInt32 { 34 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Fields: WireContent>(
        reason: WireQueryNewsReason = WireQueryNewsReason(),
        recordName: String = "",
        fields: Fields = [UInt8](),
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if reason != WireQueryNewsReason() { size += 1 + WireSize.choice(reason) }
            if !recordName.isEmpty { size += 1 + WireSize.text(recordName) }
            if fields.byteCount > 0 { size += 1 + WireSize.content(fields) }
            return writer.count(size)
        }
        if reason != WireQueryNewsReason() {
            writer.number(8)
            writer.choice(reason)
        }
        if !recordName.isEmpty {
            writer.number(18)
            writer.text(recordName)
        }
        if fields.byteCount > 0 {
            writer.number(34)
            writer.content(fields)
        }
    }

    /// The size of the field `zone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zone`. The bytes of its message must follow.
    @inlinable
    package static func begin(zone byteCount: Int, to writer: inout WireWriter) {
        writer.number(26)
        writer.number(UInt64(byteCount))
    }
}

/// The answer that a FetchDatabaseChanges with these tokens would have got when the push was made. A client that has
/// other tokens fetches instead. So does a client that got a push without changes since its last fetch.
@usableFromInline
package struct WirePushedChanges: WireMessage {
    package var databaseToken: [UInt8] = []
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    package var zoneToken: [UInt8] = []
    /// Its `then` has the changes of the zone.
    package var answer: WireFetchDatabaseChangesAnswer {
        get { presentAnswer ?? WireFetchDatabaseChangesAnswer() }
        set { presentAnswer = newValue }
    }
    package var hasAnswer: Bool { presentAnswer != nil }
    private var presentAnswer: WireFetchDatabaseChangesAnswer?

    @usableFromInline package init() {}
}

extension WirePushedChanges {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.databaseToken = try reader.content()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26: self.zoneToken = try reader.content()
            case 34:
                var value = self.presentAnswer ?? WireFetchDatabaseChangesAnswer()
                self.presentAnswer = nil
                try reader.read(&value)
                self.presentAnswer = value
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !databaseToken.isEmpty {
            size += 1 + WireSize.content(databaseToken)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !zoneToken.isEmpty {
            size += 1 + WireSize.content(zoneToken)
        }
        if let presentAnswer {
            size += 1 + WireSize.message(presentAnswer)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !databaseToken.isEmpty {
            writer.number(10)
            writer.content(databaseToken)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if !zoneToken.isEmpty {
            writer.number(26)
            writer.content(zoneToken)
        }
        if let presentAnswer {
            writer.number(34)
            writer.message(presentAnswer)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WirePushedChanges {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var databaseToken: UInt32 { 10 }
        @inlinable package static var zone: UInt32 { 18 }
        @inlinable package static var zoneToken: UInt32 { 26 }
        @inlinable package static var answer: UInt32 { 34 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<DatabaseToken: WireContent, ZoneToken: WireContent>(
        databaseToken: DatabaseToken = [UInt8](), zoneToken: ZoneToken = [UInt8](), to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if databaseToken.byteCount > 0 { size += 1 + WireSize.content(databaseToken) }
            if zoneToken.byteCount > 0 { size += 1 + WireSize.content(zoneToken) }
            return writer.count(size)
        }
        if databaseToken.byteCount > 0 {
            writer.number(10)
            writer.content(databaseToken)
        }
        if zoneToken.byteCount > 0 {
            writer.number(26)
            writer.content(zoneToken)
        }
    }

    /// The size of the field `zone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zone`. The bytes of its message must follow.
    @inlinable
    package static func begin(zone byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `answer`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(answer byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `answer`. The bytes of its message must follow.
    @inlinable
    package static func begin(answer byteCount: Int, to writer: inout WireWriter) {
        writer.number(34)
        writer.number(UInt64(byteCount))
    }
}

/// What a subscription watches.
@usableFromInline
package enum WireSubscriptionKind: WireChoice {
    case unspecified
    case query
    case recordZone
    case database
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .query
        case 2: self = .recordZone
        case 3: self = .database
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .query: 1
        case .recordZone: 2
        case .database: 3
        case .unrecognized(let number): number
        }
    }
}

/// How a record changed. The numbers are those of CKQueryNotification.Reason.
@usableFromInline
package enum WireQueryNewsReason: WireChoice {
    /// It was left out.
    case unspecified
    case recordCreated
    case recordUpdated
    case recordDeleted
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .recordCreated
        case 2: self = .recordUpdated
        case 3: self = .recordDeleted
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .recordCreated: 1
        case .recordUpdated: 2
        case .recordDeleted: 3
        case .unrecognized(let number): number
        }
    }
}
