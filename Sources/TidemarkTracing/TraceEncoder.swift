// SPDX-License-Identifier: Apache-2.0

/// Writes spans as an `ExportTraceServiceRequest` of OTLP 1 in its JSON form: 64-bit numbers are strings, and names of
/// traces and spans are hexadecimal digits.
struct TraceEncoder {
    /// The attributes that all spans of the process have in common.
    let resource: [String: TraceValue]
    /// The version of the program.
    let version: String

    private static let scope = "tidemark"

    func encode(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = JSONBytes()
        json.raw(#"{"resourceSpans":[{"resource":{"#)
        write(resource, to: &json)
        json.raw(#"},"scopeSpans":[{"scope":{"name":"#)
        json.string(Self.scope)
        json.raw(#","version":"#)
        json.string(version)
        json.raw(#"},"spans":["#)
        for (index, span) in spans.enumerated() {
            if index > 0 { json.raw(",") }
            write(span, to: &json)
        }
        json.raw("]}]}]}")
        return json.bytes
    }

    private func write(_ span: FinishedSpan, to json: inout JSONBytes) {
        json.raw(#"{"traceId":""#)
        json.digits(span.trace.high)
        json.digits(span.trace.low)
        json.raw(#"","spanId":""#)
        json.digits(span.id)
        if let parent = span.parent {
            json.raw(#"","parentSpanId":""#)
            json.digits(parent)
        }
        json.raw(#"","name":"#)
        json.string(span.name)
        json.raw(#","kind":\#(span.kind.rawValue),"startTimeUnixNano":"\#(span.start)","#)
        json.raw(#""endTimeUnixNano":"\#(span.end)","#)
        write(span.attributes, to: &json)
        if span.status != .unset { json.raw(#","status":{"code":\#(span.status.rawValue)}"#) }
        json.raw("}")
    }

    /// In the order of their names, so that equal spans have equal bytes.
    private func write(_ attributes: [String: TraceValue], to json: inout JSONBytes) {
        json.raw(#""attributes":["#)
        for (index, attribute) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            json.raw(index > 0 ? #",{"key":"# : #"{"key":"#)
            json.string(attribute.key)
            json.raw(#","value":{"#)
            switch attribute.value {
            case .text(let text):
                json.raw(#""stringValue":"#)
                json.string(text)
            case .number(let number): json.raw(#""intValue":"\#(number)""#)
            case .decimal(let number): json.raw(#""doubleValue":\#(Self.text(of: number))"#)
            case .flag(let flag): json.raw(#""boolValue":\#(flag)"#)
            }
            json.raw("}}")
        }
        json.raw("]")
    }

    /// JSON has no number for values that are not finite. These have names in protobuf's JSON.
    private static func text(of number: Double) -> String {
        if number.isFinite { return "\(number)" }
        return number.isNaN ? #""NaN""# : number < 0 ? #""-Infinity""# : #""Infinity""#
    }

    /// How many spans a collector has refused, by its answer to a request that it accepted otherwise.
    static func rejectedCount(in answer: [UInt8]) -> Int {
        // Inside of a string the quotation mark would have a backslash before it.
        let name = Array(#""rejectedSpans""#.utf8)
        guard let start = answer.indices.first(where: { answer[$0...].starts(with: name) }) else { return 0 }
        let value = answer[(start + name.count)...].drop { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let digits = value.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}

/// JSON that is written from front to back (RFC 8259).
private struct JSONBytes {
    private(set) var bytes: [UInt8] = []

    private static let hexDigits = Array("0123456789abcdef".utf8)

    mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                raw("\\u00")
                bytes.append(Self.hexDigits[Int(byte >> 4)])
                bytes.append(Self.hexDigits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Sixteen hexadecimal digits.
    mutating func digits(_ number: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            bytes.append(Self.hexDigits[Int(number >> UInt64(shift) & 15)])
        }
    }
}
