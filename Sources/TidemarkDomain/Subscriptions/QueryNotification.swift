// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// The contents of one push of a query subscription (R-251 … R-258): at most 4 KB. A pure value.
package struct QueryNotification: Sendable, Equatable {
    /// the most bytes of texts and fields.
    package static let bytesMax = 4_096
    /// longer strings are cut.
    package static let charactersMax = 100

    /// A record of the push; nil if it was left out.
    package struct Record: Sendable, Hashable {
        package let name: String
        package let zoneName: String

        package init(name: String, zoneName: String) {
            self.name = name
            self.zoneName = zoneName
        }
    }

    package private(set) var reason: QueryReason?
    package private(set) var record: Record?
    /// In the order in which the app names them.
    package private(set) var fields: [(key: String, value: FieldValue)] = []
    /// The text, sound and badge for the user; nil: the push is silent.
    package private(set) var alert: NotificationInfo?
    /// Whether something was left out.
    package private(set) var isPruned = false

    /// - Parameters:
    ///   - version: the record after the change, or the record before its deletion. Nil: it is not known here, for
    ///     example on another server than that of the change.
    package init(
        _ info: NotificationInfo, reason: QueryReason, of record: Record, version: RecordState?
    ) {
        self.reason = reason
        self.record = record
        let asks = !info.desiredKeys.isEmpty || info.namesFields
        isPruned = version == nil && asks
        // a record that is gone has no fields.
        if reason != .deleted, let version { fields = Self.fields(of: version, named: info.desiredKeys) }
        if info.isVisible { alert = info.filled(from: version) }
        prune()
    }

    /// leaves out as much as it takes, in this order: fields, reason, record, titles, and the alert's text last.
    private mutating func prune() {
        for step in PruningStep.allCases {
            guard byteCount > Self.bytesMax else { return }
            let before = byteCount
            remove(step)
            if byteCount < before { isPruned = true }
        }
    }

    /// The parts that are left out together, in the published order.
    package enum PruningStep: CaseIterable, Sendable {
        case fields, reason, record, title, subtitle, category, collapseID, launchImage, action, sound
        case localizedAlert, alertBody
    }

    private mutating func remove(_ step: PruningStep) {
        switch step {
        case .fields: fields = []
        case .reason: reason = nil
        case .record: record = nil
        case .title:
            alert?.title = ""
            alert?.titleLocalizationKey = ""
            alert?.titleLocalizationArgs = []
        case .subtitle:
            alert?.subtitle = ""
            alert?.subtitleLocalizationKey = ""
            alert?.subtitleLocalizationArgs = []
        case .category: alert?.category = ""
        case .collapseID: alert?.collapseIDKey = ""
        case .launchImage: alert?.alertLaunchImage = ""
        case .action: alert?.alertActionLocalizationKey = ""
        case .sound: alert?.soundName = ""
        case .localizedAlert:
            alert?.alertLocalizationKey = ""
            alert?.alertLocalizationArgs = []
        case .alertBody: alert?.alertBody = ""
        }
    }

    /// The bytes that count.
    package var byteCount: Int {
        let recordBytes = record.map { $0.name.utf8.count + $0.zoneName.utf8.count + 8 } ?? 0
        return (reason == nil ? 0 : 4) + recordBytes + (alert?.byteCount ?? 0)
            + fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.notifiedByteCount + 8 }
    }

    /// of these types, and none that is encrypted. Each key once.
    private static func fields(of record: RecordState, named keys: [String]) -> [(key: String, value: FieldValue)] {
        var seen: Set<String> = []
        return keys.prefix(NotificationInfo.desiredKeysMax).compactMap { key in
            guard seen.insert(key).inserted, let entry = record.fields[key] else { return nil }
            return entry.notifiedValue.map { (key, $0) }
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.reason == right.reason && left.record == right.record && left.alert == right.alert
            && left.isPruned == right.isPruned && left.fields.map(\.key) == right.fields.map(\.key)
            && left.fields.map(\.value) == right.fields.map(\.value)
    }
}

extension NotificationInfo {
    /// Whether a push depends on what the record has.
    fileprivate var namesFields: Bool {
        isVisible
            && !(alertLocalizationArgs.isEmpty && titleLocalizationArgs.isEmpty && subtitleLocalizationArgs.isEmpty
                && collapseIDKey.isEmpty)
    }

    /// arguments and the collapse ID are the values of the fields that they name. Values that the record lacks are empty.
    fileprivate func filled(from record: RecordState?) -> NotificationInfo {
        var info = self
        info.desiredKeys = []
        var texts = NotifiedTexts(record)
        info.alertLocalizationArgs = texts.all(of: alertLocalizationArgs)
        info.titleLocalizationArgs = texts.all(of: titleLocalizationArgs)
        info.subtitleLocalizationArgs = texts.all(of: subtitleLocalizationArgs)
        if !collapseIDKey.isEmpty { info.collapseIDKey = texts.one(of: collapseIDKey) }
        // the key wins over the text.
        if !alertLocalizationKey.isEmpty { info.alertBody = "" }
        if !titleLocalizationKey.isEmpty { info.title = "" }
        if !subtitleLocalizationKey.isEmpty { info.subtitle = "" }
        return info
    }
}

/// Fields of a record as arguments. Each is read once, and no more is taken than a push has room for.
private struct NotifiedTexts {
    private let record: RecordState?
    private var known: [String: String] = [:]

    init(_ record: RecordState?) {
        self.record = record
    }

    /// What the record lacks is empty.
    mutating func one(of key: String) -> String {
        if let text = known[key] { return text }
        let text = record?.fields[key]?.notifiedValue?.notifiedText ?? ""
        known[key] = text
        return text
    }

    /// In the order of the keys. Once they are too long for a push, they are left out of it, so the others do not matter.
    mutating func all(of keys: [String]) -> [String] {
        var texts: [String] = []
        var byteCount = 0
        for key in keys where byteCount <= QueryNotification.bytesMax {
            let text = one(of: key)
            texts.append(text)
            byteCount += text.utf8.count + NotificationInfo.bytesPerText
        }
        return texts
    }
}

extension FieldMap.Entry {
    /// What a push brings of a field: nothing of encrypted ones and of other types.
    ///
    /// the first characters of a string. One character may have a megabyte of accents. A text that is too long for a push
    /// stays too long for it, and is left out.
    fileprivate var notifiedValue: FieldValue? {
        guard !isEncrypted, let type else { return nil }
        switch type {
        case .string:
            let text = text(bytesMax: QueryNotification.bytesMax + 4)
            return text.map { .string(String($0.prefix(QueryNotification.charactersMax))) }
        case .int64, .double, .date, .location, .reference: return try? value()
        default: return nil
        }
    }
}

extension FieldValue {
    /// As an argument: strings as they are, numbers with a point, dates as `2026-11-30T10:00:00Z`.
    fileprivate var notifiedText: String? {
        switch self {
        case .string(let text): text
        case .int64(let number): String(number)
        case .double(let number): Int64(exactly: number).map(String.init) ?? String(number)
        case .date(let date): CivilDate(milliseconds: date.milliseconds).text
        default: nil
        }
    }
}

extension FieldValue {
    /// About how many bytes the value has in a push.
    fileprivate var notifiedByteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .reference(let reference):
            reference.recordName.utf8.count + (reference.zone.map { $0.name.utf8.count + $0.ownerName.utf8.count } ?? 0)
        case .location: 64
        default: 8
        }
    }
}

/// A moment in UTC, as text to the second.
private struct CivilDate {
    let milliseconds: Int64

    /// Days since 1970 to a date, by whole eras of 400 years.
    var text: String {
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let time = seconds - days * 86_400
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock)Z"
    }

    private func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
