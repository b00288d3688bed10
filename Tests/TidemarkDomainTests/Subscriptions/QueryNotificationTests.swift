// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct QueryNotificationTests {
    typealias Step = QueryNotification.PruningStep

    static let place = QueryNotification.Record(name: "r", zoneName: "Notes")

    static func record(_ fields: [Field]) -> RecordState {
        do {
            return RecordState(
                name: "r", type: "Item", fields: try FieldMap(fields), changeNumber: 1, isDeleted: false, parent: nil,
                createdAt: 1_000, createdBy: alice, createdByDevice: phone, modifiedAt: 2_000, modifiedBy: bob,
                batchEnd: 1)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    static let location = FieldLocation(
        latitude: 1, longitude: 2, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
        timestampMilliseconds: 0)
    static let sample = record([
        Field("text", .string(String(repeating: "ä", count: 150))), Field("count", .int64(-7)),
        Field("price", .double(2.5)), Field("whole", .double(4)), Field("day", .date(milliseconds: 1_764_496_800_500)),
        Field("old", .date(milliseconds: -62_135_596_800_001)), Field("data", .bytes([1])),
        Field("place", .location(location)), Field("owner", .reference(FieldReference(recordName: "x"))),
        Field("list", .strings(["a"])), Field("secret", .string("hush"), isEncrypted: true),
    ])

    static func info(_ change: (inout NotificationInfo) -> Void) -> NotificationInfo {
        var info = NotificationInfo()
        change(&info)
        return info
    }

    @Test func `R-250: only what the user sees or hears is visible`() {
        let silent: [(inout NotificationInfo) -> Void] = [
            { _ in }, { $0.shouldSendContentAvailable = true }, { $0.desiredKeys = ["a"] }, { $0.category = "c" },
            { $0.shouldSendMutableContent = true }, { $0.collapseIDKey = "k" },
        ]
        let visible: [(inout NotificationInfo) -> Void] = [
            { $0.alertBody = "b" }, { $0.alertLocalizationKey = "b" }, { $0.title = "b" },
            { $0.titleLocalizationKey = "b" }, { $0.subtitle = "b" }, { $0.subtitleLocalizationKey = "b" },
            { $0.soundName = "b" }, { $0.shouldBadge = true },
        ]
        for change in silent { #expect(!Self.info(change).isVisible) }
        for change in visible { #expect(Self.info(change).isVisible) }
        let push = QueryNotification(Self.info(silent[1]), reason: .created, of: Self.place, version: Self.sample)
        #expect(push.alert == nil && !push.isPruned && push.fields.isEmpty)
    }

    @Test func `R-251: a push brings three desired keys, of these types, and strings are cut at 100 characters`() {
        let rows: [([String], [String])] = [
            (["text", "count", "price"], ["text", "count", "price"]),
            (["day", "place", "owner"], ["day", "place", "owner"]),
            (["data", "list", "secret"], []), (["missing", "count"], ["count"]), (["count", "count"], ["count"]),
            (["text", "count", "price", "day"], ["text", "count", "price"]), ([], []),
        ]
        for (keys, found) in rows {
            let push = QueryNotification(
                Self.info { $0.desiredKeys = keys }, reason: .updated, of: Self.place, version: Self.sample)
            #expect(push.fields.map(\.key) == found, "\(keys)")
            #expect(!push.isPruned && push.reason == .updated && push.record == Self.place)
        }
        let push = QueryNotification(
            Self.info { $0.desiredKeys = ["text"] }, reason: .created, of: Self.place, version: Self.sample)
        #expect(push.fields.first?.value == .string(String(repeating: "ä", count: 100)))
    }

    @Test func `R-252, R-848: arguments and collapse ID are values of fields, and keys win over texts`() throws {
        let info = Self.info {
            $0.alertBody = "never shown"
            $0.alertLocalizationKey = "ALERT"
            $0.alertLocalizationArgs = ["count", "price", "whole", "day", "old", "missing", "secret", "data", "count"]
            $0.title = "never shown"
            $0.titleLocalizationKey = "TITLE"
            $0.titleLocalizationArgs = ["text"]
            $0.subtitle = "shown"
            $0.subtitleLocalizationArgs = ["count"]
            $0.collapseIDKey = "count"
            $0.desiredKeys = ["count"]
        }
        let alert = try #require(
            QueryNotification(info, reason: .created, of: Self.place, version: Self.sample).alert)
        #expect(alert.alertBody.isEmpty && alert.title.isEmpty && alert.subtitle == "shown")
        #expect(
            alert.alertLocalizationArgs == [
                "-7", "2.5", "4", "2025-11-30T10:00:00Z", "0000-12-31T23:59:59Z", "", "", "", "-7",
            ])
        #expect(alert.titleLocalizationArgs == [String(repeating: "ä", count: 100)])
        #expect(alert.subtitleLocalizationArgs == ["-7"])
        #expect(alert.collapseIDKey == "-7" && alert.desiredKeys.isEmpty)
    }

    @Test func `R-258: a deletion brings no fields, and its text is of the record that there was`() throws {
        let info = Self.info {
            $0.alertLocalizationKey = "GONE"
            $0.alertLocalizationArgs = ["count"]
            $0.desiredKeys = ["count"]
        }
        let push = QueryNotification(info, reason: .deleted, of: Self.place, version: Self.sample)
        #expect(push.fields.isEmpty && push.reason == .deleted && push.record == Self.place && !push.isPruned)
        #expect(push.alert?.alertLocalizationArgs == ["-7"])
    }

    @Test func `R-849: a push without the record says that something is missing`() {
        let rows: [(NotificationInfo, Bool)] = [
            (Self.info { _ in }, false), (Self.info { $0.alertBody = "b" }, false),
            (Self.info { $0.desiredKeys = ["count"] }, true),
            (Self.info { ($0.alertLocalizationKey, $0.alertLocalizationArgs) = ("k", ["count"]) }, true),
            (Self.info { ($0.alertBody, $0.collapseIDKey) = ("b", "count") }, true),
        ]
        for (info, isPruned) in rows {
            let push = QueryNotification(info, reason: .created, of: Self.place, version: nil)
            #expect(push.isPruned == isPruned && push.fields.isEmpty)
            #expect(push.record == Self.place)
        }
    }

    /// Everything that a step leaves out, with a text of this many bytes in one step's part.
    private static func push(_ big: Step?, bytes: Int = 5_000) -> QueryNotification {
        func text(_ step: Step) -> String { String(repeating: "x", count: step == big ? bytes : 1) }
        let info = info {
            $0.title = text(.title)
            $0.subtitle = text(.subtitle)
            $0.category = text(.category)
            $0.alertLaunchImage = text(.launchImage)
            $0.alertActionLocalizationKey = text(.action)
            $0.soundName = text(.sound)
            $0.alertBody = text(.alertBody)
            $0.collapseIDKey = "k"
            $0.desiredKeys = ["k"]
        }
        return QueryNotification(
            info, reason: .created, of: .init(name: text(.record), zoneName: "z"),
            version: record([Field("k", .int64(1))]))
    }

    /// The steps whose part is missing.
    private static func missing(_ push: QueryNotification) -> [Step] {
        let alert = push.alert ?? NotificationInfo()
        let parts: [(Step, Bool)] = [
            (.fields, push.fields.isEmpty), (.reason, push.reason == nil), (.record, push.record == nil),
            (.title, alert.title.isEmpty), (.subtitle, alert.subtitle.isEmpty), (.category, alert.category.isEmpty),
            (.collapseID, alert.collapseIDKey.isEmpty), (.launchImage, alert.alertLaunchImage.isEmpty),
            (.action, alert.alertActionLocalizationKey.isEmpty), (.sound, alert.soundName.isEmpty),
            (.alertBody, alert.alertBody.isEmpty),
        ]
        return parts.filter(\.1).map(\.0)
    }

    @Test func `R-256: a push over 4 KB leaves out in the published order, up to what made it too long`() {
        let whole = Self.push(nil)
        #expect(!whole.isPruned && Self.missing(whole).isEmpty)
        let order: [Step] = [
            .fields, .reason, .record, .title, .subtitle, .category, .collapseID, .launchImage, .action, .sound,
            .alertBody,
        ]
        for (place, step) in order.enumerated() where place >= 2 && step != .collapseID {
            let push = Self.push(step)
            #expect(push.isPruned, "\(step)")
            #expect(Self.missing(push) == Array(order.prefix(place + 1)), "\(step)")
            #expect(push.byteCount <= QueryNotification.bytesMax)
        }
        #expect(Step.allCases == Array(order.prefix(10)) + [.localizedAlert, .alertBody])
    }

    @Test func `R-295: of texts no more is taken than a push has room for, and it is the same push`() throws {
        let accents = "e" + String(repeating: "\u{301}", count: 500_000)
        let cut = "e" + String(repeating: "\u{301}", count: 2_500)
        let names = (0..<2_000).map { "k\($0)" }
        func push(_ text: String, _ args: [String]) -> QueryNotification {
            let info = Self.info {
                ($0.alertBody, $0.titleLocalizationKey, $0.collapseIDKey) = ("b", "t", "none")
                $0.titleLocalizationArgs = args
                $0.desiredKeys = ["text", "k1"]
            }
            let fields = names.prefix(100).map { Field($0, .int64(1)) } + [Field("text", .string(text))]
            return QueryNotification(info, reason: .created, of: Self.place, version: Self.record(fields))
        }
        // One character that is longer than a push.
        let long = push(accents, ["k1"])
        #expect(long.isPruned && long.fields.isEmpty && long.alert?.titleLocalizationArgs == ["1"])
        #expect(long == push(cut, ["k1"]) && long.byteCount <= QueryNotification.bytesMax)
        // Many arguments: those behind the room of a push make no difference, and one fewer fits.
        let many = push("x", names)
        #expect(many.isPruned && many.alert?.titleLocalizationKey.isEmpty == true)
        #expect(many.alert?.titleLocalizationArgs.isEmpty == true && many == push("x", Array(names.prefix(1_030))))
        #expect(push("x", Array(repeating: "none", count: 1_000)).alert?.titleLocalizationArgs.count == 1_000)
        // A hundred characters are a hundred characters, however many bytes they have.
        let marked = String(repeating: "e\u{301}\u{302}", count: 150)
        let shown = push(marked, ["text"])
        #expect(shown.alert?.titleLocalizationArgs == [String(marked.prefix(100))] && !shown.isPruned)
    }

    @Test func `R-256: exactly 4 KB is sent whole`() {
        let base = Self.push(.alertBody, bytes: 1).byteCount
        let room = QueryNotification.bytesMax - base
        let fits = Self.push(.alertBody, bytes: 1 + room)
        #expect(fits.byteCount == QueryNotification.bytesMax && !fits.isPruned)
        let over = Self.push(.alertBody, bytes: 2 + room)
        #expect(over.isPruned && Self.missing(over) == [.fields])
    }

    @Test func `R-256: arguments of records make a push too long, and are left out before the text`() {
        let names = (0..<200).map { "f\($0)" }
        let long = Self.record(names.map { Field($0, .string(String(repeating: "ü", count: 1_000))) })
        let push = QueryNotification(
            Self.info {
                $0.alertLocalizationKey = "KEY"
                $0.alertLocalizationArgs = names
                $0.shouldBadge = true
            }, reason: .created, of: Self.place, version: long)
        #expect(push.isPruned && push.alert?.alertLocalizationArgs == [] && push.alert?.alertLocalizationKey == "")
        #expect(push.alert?.shouldBadge == true && push.byteCount <= QueryNotification.bytesMax)
    }
}
