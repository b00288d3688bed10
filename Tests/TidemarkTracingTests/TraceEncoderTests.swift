// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkTracing

@Suite struct TraceEncoderTests {
    private let encoder = TraceEncoder(resource: ["service.name": .text("tidemark")], version: "0.1.0")

    private func text(_ spans: [FinishedSpan]) -> String { String(decoding: encoder.encode(spans), as: UTF8.self) }

    @Test func `R-907: spans are written as OTLP has them in JSON`() {
        let whole = FinishedSpan(
            trace: TraceName(high: 0x0123_4567_89AB_8DEF, low: 0x8000_0000_0000_0007), id: 0x8000_0000_0000_0007,
            parent: nil, name: "modify_records", kind: .server, start: 1_700_000_000_000_000_001,
            end: 1_700_000_000_012_000_000,
            attributes: ["tidemark.result": .text("ok"), "tidemark.account": .number(3)],
            status: .unset)
        let part = FinishedSpan(
            trace: whole.trace, id: 0xA, parent: whole.id, name: "store", kind: .internal,
            start: 1_700_000_000_001_000_000, end: 1_700_000_000_011_000_000, attributes: ["x": .flag(true)],
            status: .error)
        #expect(
            text([whole, part])
                == #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"tidemark"}}]},"#
                + #""scopeSpans":[{"scope":{"name":"tidemark","version":"0.1.0"},"spans":["#
                + #"{"traceId":"0123456789ab8def8000000000000007","spanId":"8000000000000007","#
                + #""name":"modify_records","kind":2,"startTimeUnixNano":"1700000000000000001","#
                + #""endTimeUnixNano":"1700000000012000000","attributes":["#
                + #"{"key":"tidemark.account","value":{"intValue":"3"}},"#
                + #"{"key":"tidemark.result","value":{"stringValue":"ok"}}]},"#
                + #"{"traceId":"0123456789ab8def8000000000000007","spanId":"000000000000000a","#
                + #""parentSpanId":"8000000000000007","name":"store","kind":1,"#
                + #""startTimeUnixNano":"1700000000001000000","endTimeUnixNano":"1700000000011000000","#
                + #""attributes":[{"key":"x","value":{"boolValue":true}}],"status":{"code":2}}]}]}]}"#)
    }

    /// Another reader understands what is written.
    @Test func `R-907: any text and number is JSON`() throws {
        let odd = "\u{0}\u{1F}\"\\/\n\u{2028}é\u{1F600}"
        let bytes = encoder.encode([
            .some(
                1, named: odd,
                attributes: [
                    "text": .text(odd), "none": .decimal(.nan), "half": .decimal(0.5), "least": .number(.min),
                    "all": .decimal(.infinity), "debt": .decimal(-.infinity),
                ])
        ])
        let document = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let resource = (document["resourceSpans"] as? [[String: Any]])?.first
        let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
        let span = try #require((scope?["spans"] as? [[String: Any]])?.first)
        #expect(span["name"] as? String == odd)
        var values: [String: [String: Any]] = [:]
        for attribute in span["attributes"] as? [[String: Any]] ?? [] {
            values[attribute["key"] as? String ?? ""] = attribute["value"] as? [String: Any]
        }
        #expect(values["text"]?["stringValue"] as? String == odd)
        #expect(values["none"]?["doubleValue"] as? String == "NaN")
        #expect(values["all"]?["doubleValue"] as? String == "Infinity")
        #expect(values["debt"]?["doubleValue"] as? String == "-Infinity")
        #expect(values["half"]?["doubleValue"] as? Double == 0.5)
        #expect(values["least"]?["intValue"] as? String == "-9223372036854775808")
    }

    @Test(arguments: [
        ("{}", 0), ("", 0), (#"{"partialSuccess":{}}"#, 0),
        (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"7"}}"#, 3),
        (#"{"partialSuccess":{"rejectedSpans" : 12}}"#, 12),
        (#"{"partialSuccess":{"errorMessage":"\"rejectedSpans\":5"}}"#, 0),
        (#"{"partialSuccess":{"rejectedSpans":"99999999999999999999"}}"#, 0),
    ])
    func `R-907: a collector says how many spans it does not want`(_ answer: String, _ count: Int) {
        #expect(TraceEncoder.rejectedCount(in: Array(answer.utf8)) == count)
    }

    @Test func `I-7, R-907: what is counted as a span's bytes is about what is sent`() {
        let long = String(repeating: "a", count: 4_000)
        for attributes in [[:], ["a": .text(long), "b": .text(long)], ["c": .number(.max), "d": .flag(false)]]
            as [[String: TraceValue]]
        {
            let span = FinishedSpan.some(.max - 1, named: "store", attributes: attributes)
            let sent = encoder.encode([span, span]).count - encoder.encode([span]).count
            #expect(span.byteCount >= sent * 9 / 10 && span.byteCount <= sent * 2, "\(span.byteCount) for \(sent)")
        }
    }
}
