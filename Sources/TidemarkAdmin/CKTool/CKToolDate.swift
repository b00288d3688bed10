// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// Dates as `cktool` takes them: ISO 8601, `2021-04-28`, `2021-04-28 17:05`, and the forms of the United States
/// `04/28/2021`, `04-28-2021, 17:05` and `04/28/2021, 5:05 pm`.
enum CKToolDate {
    /// Nil for any other text, and for a day or time that does not exist.
    ///
    /// - Parameter timeZone: of a date that names none.
    static func date(_ text: String, in timeZone: TimeZone) -> FieldDate? {
        if text.contains("T") { return DateText.date(text) }
        if let match = text.wholeMatch(of: /(\d{4})-(\d{2})-(\d{2})(?: (\d{1,2}):(\d{2}))?/) {
            return date(match.1, match.2, match.3, Clock(match.4, match.5, half: nil), timeZone)
        }
        let american = /(\d{1,2})[\/\-](\d{1,2})[\/\-](\d{4})(?:,? (\d{1,2}):(\d{2})(?: ?([AaPp])[Mm])?)?/
        guard let match = text.wholeMatch(of: american) else { return nil }
        return date(match.3, match.1, match.2, Clock(match.4, match.5, half: match.6 ?? nil), timeZone)
    }

    /// A time of the day.
    private struct Clock {
        let hour: Int
        let minute: Int

        /// Midnight if there are no digits. Nil for a time that does not exist.
        ///
        /// - Parameter half: a or p; nil: the hour is one of 24.
        init?(_ hour: Substring?, _ minute: Substring?, half: Substring?) {
            guard let hour, let minute else {
                (self.hour, self.minute) = (0, 0)
                return
            }
            guard let hour = Int(hour), let minute = Int(minute), minute < 60 else { return nil }
            self.minute = minute
            guard let half else {
                guard hour < 24 else { return nil }
                self.hour = hour
                return
            }
            guard (1...12).contains(hour) else { return nil }
            self.hour = hour % 12 + (half.lowercased() == "p" ? 12 : 0)
        }
    }

    private static func date(
        _ year: Substring, _ month: Substring, _ day: Substring, _ clock: Clock?, _ timeZone: TimeZone
    ) -> FieldDate? {
        guard let clock, let year = Int(year), let month = Int(month), let day = Int(day) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = DateComponents(year: year, month: month, day: day, hour: clock.hour, minute: clock.minute)
        guard let date = calendar.date(from: parts) else { return nil }
        // A day that does not exist becomes another one.
        let found = calendar.dateComponents([.year, .month, .day], from: date)
        guard found.year == year, found.month == month, found.day == day else { return nil }
        return FieldDate(milliseconds: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }
}
