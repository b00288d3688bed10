// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// A date as text in ISO 8601, for printing and reading. A printed date is read as the same date, bit for bit.
///
/// Up to three digits of a second's fraction stand for milliseconds since 1970. With more digits, the text is the
/// shortest decimal number for the date's seconds since 2001.
enum DateText {
    /// A day, or a time with its zone, with or without a fraction of a second. Nil for any other text.
    static func date(_ text: String) -> FieldDate? {
        guard text.contains("T") else {
            return (try? Date.ISO8601FormatStyle.iso8601.year().month().day().parse(text)).map(Self.rounded)
        }
        guard let (whole, fraction) = parts(of: text) else { return nil }
        guard let date = try? Date.ISO8601FormatStyle.iso8601.parse(whole) else { return nil }
        let seconds = Int64(date.timeIntervalSinceReferenceDate.rounded())
        if fraction.count > fractionDigits { return exact(seconds, fraction) }
        let milliseconds = Int64(fraction.padding(toLength: fractionDigits, withPad: "0", startingAt: 0)) ?? 0
        return FieldDate(milliseconds: (seconds + secondsTo2001) * 1_000 + milliseconds)
    }

    /// A number of seconds since 1970 if the year does not have four digits.
    static func text(_ date: FieldDate) -> String {
        let seconds = date.secondsSince2001
        guard printable.contains(seconds) else {
            return Date(timeIntervalSinceReferenceDate: seconds).timeIntervalSince1970.description
        }
        guard FieldDate(milliseconds: date.milliseconds) != date, let fraction = fraction(of: seconds) else {
            return text(milliseconds: date.milliseconds)
        }
        return text(Date(timeIntervalSinceReferenceDate: seconds.rounded(.down)), fraction)
    }

    // NB: Foundation truncates the fraction of a second instead of rounding it. So 12.812 s, which is not exact as a
    // double, may be printed as 12.811.
    private static func text(milliseconds: Int64) -> String {
        let (rest, digits) = (((milliseconds % 1_000) + 1_000) % 1_000, "00")
        let whole = Date(timeIntervalSince1970: Double((milliseconds - rest) / 1_000))
        return text(whole, String((digits + "\(rest)").suffix(fractionDigits)))
    }

    /// - Parameter whole: a whole number of seconds.
    private static func text(_ whole: Date, _ fraction: String) -> String {
        whole.formatted(.iso8601).dropLast() + "." + fraction + "Z"
    }

    // MARK: Fractions

    private static let fractionDigits = 3
    private static let secondsTo2001 = Int64(Date.timeIntervalBetween1970AndReferenceDate)
    /// The years 1 to 9999.
    private static let printable = -63_113_904_000.0..<252_423_993_600

    private static func rounded(_ date: Date) -> FieldDate {
        FieldDate(milliseconds: Int64((date.timeIntervalSince1970 * 1_000).rounded()))
    }

    /// The text without the digits of the fraction, and those digits.
    private static func parts(of text: String) -> (whole: String, fraction: String)? {
        guard let point = text.firstIndex(where: { $0 == "." || $0 == "," }) else { return (text, "") }
        let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { return nil }
        return (String(text[..<point] + text[digits.endIndex...]), String(digits))
    }

    /// The digits after the decimal point, from the whole second before, at least four. Nil for a number that is too
    /// small for this form.
    private static func fraction(of seconds: Double) -> String? {
        let text = seconds.magnitude.description
        guard !text.contains("e"), let point = text.firstIndex(of: ".") else { return nil }
        let digits = String(text[text.index(after: point)...])
        let fraction = seconds < 0 ? complement(digits) : digits
        return fraction.padding(toLength: max(fraction.count, fractionDigits + 1), withPad: "0", startingAt: 0)
    }

    /// - Parameter seconds: whole seconds since 2001.
    private static func exact(_ seconds: Int64, _ fraction: String) -> FieldDate? {
        guard seconds < 0, fraction.contains(where: { $0 != "0" }) else {
            return Double("\(seconds).\(fraction)").flatMap(FieldDate.init(secondsSince2001:))
        }
        return Double("-\(-(seconds + 1)).\(complement(fraction))").flatMap(FieldDate.init(secondsSince2001:))
    }

    /// The digits of 1 - 0.digits. Digits that are all zero stay.
    private static func complement(_ digits: String) -> String {
        var carry = 10
        let reversed = digits.reversed().map { digit in
            let rest = carry - (digit.wholeNumberValue ?? 0)
            carry = rest == 10 ? 10 : 9
            return rest == 10 ? "0" : "\(rest)"
        }
        return reversed.reversed().joined()
    }
}
