// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

/// The header of a proxy, fed all at once, byte by byte, and in two parts cut at every point.
@Suite struct ProxyHeaderTests {
    enum Verdict: Equatable, Sendable {
        case header(ProxyHeader)
        case error(ProxyHeaderError)
        /// More bytes are asked for than there are.
        case needMore(Int)
    }

    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    static func header(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let count = length ?? rest.count
        return signature + [command, family, UInt8(count >> 8), UInt8(count & 255)] + rest
    }

    /// Source, destination, source port 0x1234, destination port 443.
    private static let ipv4: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x34, 0x01, 0xBB]
    private static let source6 = [UInt8](1...16)
    private static let ipv6 = source6 + [UInt8](repeating: 9, count: 16) + [0xFF, 0xFE, 0x01, 0xBB]

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let verdict: Verdict

        init(_ name: String, _ bytes: [UInt8], _ verdict: Verdict) {
            (self.name, self.bytes, self.verdict) = (name, bytes, verdict)
        }

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case("IPv4", header(0x21, 0x11, ipv4), .header(.client(address: [192, 0, 2, 7], port: 0x1234))),
        Case("IPv6", header(0x21, 0x21, ipv6), .header(.client(address: source6, port: 0xFFFE))),
        Case(
            "IPv4 with TLVs", header(0x21, 0x11, ipv4 + [0x03, 0x00, 0x04, 1, 2, 3, 4, 0x04, 0x00, 0x00]),
            .header(.client(address: [192, 0, 2, 7], port: 0x1234))),
        Case(
            "as long as may be", header(0x21, 0x11, ipv4 + [UInt8](repeating: 0, count: 536 - 16 - 12)),
            .header(.client(address: [192, 0, 2, 7], port: 0x1234))),
        Case("a byte longer", header(0x21, 0x11, ipv4 + [UInt8](repeating: 0, count: 536 - 16 - 11)), .error(.tooLong)),
        Case("the longest length", header(0x21, 0x11, ipv4, length: 65_535), .error(.tooLong)),
        Case("the longest length of the proxy's own", header(0x20, 0x00, [], length: 65_535), .error(.tooLong)),
        Case("the proxy's own", header(0x20, 0x00, []), .header(.own)),
        Case("the proxy's own with addresses", header(0x20, 0x11, ipv4), .header(.own)),
        Case("the proxy's own with an unknown family", header(0x20, 0xFF, [1, 2, 3]), .header(.own)),
        Case("no family", header(0x21, 0x00, []), .header(.own)),
        Case("no family, with bytes", header(0x21, 0x00, [1, 2, 3]), .header(.own)),
        Case("UDP", header(0x21, 0x12, ipv4), .header(.own)),
        Case("UDP over IPv6", header(0x21, 0x22, ipv6), .header(.own)),
        Case("a Unix socket", header(0x21, 0x31, [UInt8](repeating: 65, count: 216)), .header(.own)),
        Case("a Unix socket of datagrams", header(0x21, 0x32, [UInt8](repeating: 65, count: 216)), .header(.own)),
        Case("IPv4 cut short", header(0x21, 0x11, Array(ipv4.dropLast())), .error(.tooShort)),
        Case("IPv6 with the addresses of IPv4", header(0x21, 0x21, ipv4), .error(.tooShort)),
        Case("a Unix socket cut short", header(0x21, 0x31, ipv6), .error(.tooShort)),
        Case("IPv4 without a protocol", header(0x21, 0x10, ipv4), .error(.unknownFamily)),
        Case("an unknown protocol", header(0x21, 0x13, ipv4), .error(.unknownFamily)),
        Case("an unknown family", header(0x21, 0x41, ipv4), .error(.unknownFamily)),
        Case("a protocol without a family", header(0x21, 0x01, ipv4), .error(.unknownFamily)),
        Case("an unknown command", header(0x22, 0x11, ipv4), .error(.unknownCommand)),
        Case("version 1 in the binary form", header(0x11, 0x11, ipv4), .error(.unknownCommand)),
        Case("version 3", header(0x31, 0x11, ipv4), .error(.unknownCommand)),
        Case("version 1", Array("PROXY TCP4 192.0.2.7 10.0.0.1 4660 443\r\n".utf8), .error(.noSignature)),
        Case("TLS", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01], .error(.noSignature)),
        Case("a request", Array("GET / HTTP/1.1\r\n".utf8), .error(.noSignature)),
        Case("empty lines", Array("\r\n\r\n\r\n".utf8), .error(.noSignature)),
        Case("nothing", [], .needMore(16)),
        Case("a signature", signature, .needMore(4)),
        Case("half of the addresses", Array(header(0x21, 0x11, ipv4).dropLast(6)), .needMore(6)),
    ]

    /// - Parameter cuts: where the bytes are split.
    /// - Returns: what comes of it, and how many bytes the parser took.
    private func feed(_ bytes: [UInt8], _ cuts: [Int]) -> (verdict: Verdict, taken: Int) {
        var parser = ProxyHeaderParser()
        var taken = 0
        for end in cuts + [bytes.count] {
            while taken < end {
                let count = min(parser.missingCount, end - taken)
                // Memory of exactly this size, so that an over-read reads what is not ours.
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
                defer { copy.deallocate() }
                copy.copyBytes(from: bytes[taken..<taken + count])
                taken += count
                do throws(ProxyHeaderError) {
                    if let header = try parser.take(UnsafeRawBufferPointer(copy)) { return (.header(header), taken) }
                } catch {
                    return (.error(error), taken)
                }
            }
        }
        return (.needMore(parser.missingCount), taken)
    }

    @Test(arguments: cases)
    func `R-944: a proxy's header is read however it is split, and nothing of what follows`(testCase: Case) {
        let bytes = testCase.bytes
        for cut in 0...bytes.count {
            #expect(feed(bytes, [cut]).verdict == testCase.verdict, "cut at \(cut)")
        }
        #expect(feed(bytes, Array(0...bytes.count)).verdict == testCase.verdict, "byte by byte")
        guard case .header = testCase.verdict else { return }
        let (verdict, taken) = feed(bytes + bytes, [])
        #expect(verdict == testCase.verdict && taken == bytes.count)
    }

    @Test func `R-944: whoever speaks something else is refused at the first byte that is wrong`() {
        let right = Self.header(0x21, 0x11, Self.ipv4)
        for position in 0..<14 {
            for byte in UInt8.min...UInt8.max where byte != right[position] {
                var wrong = right
                wrong[position] = byte
                let (verdict, taken) = feed(wrong, Array(0...wrong.count))
                switch (position, byte) {
                // Other headers that are right.
                case (12, 0x20): #expect(verdict == .header(.own))
                case (13, 0x00), (13, 0x12): #expect(verdict == .header(.own))
                case (13, 0x21), (13, 0x22), (13, 0x31), (13, 0x32): #expect(verdict == .error(.tooShort))
                default:
                    guard case .error = verdict else {
                        Issue.record("byte \(byte) at \(position): \(verdict)")
                        continue
                    }
                    #expect(taken == position + 1)
                }
            }
        }
    }

    @Test func `R-944: a header never asks for more than its bound`() {
        for length in 0...65_535 {
            var parser = ProxyHeaderParser()
            let fixed = Self.header(0x21, 0x00, [], length: length)
            do throws(ProxyHeaderError) {
                let header = try Self.take(fixed, &parser)
                guard
                    header != (length == 0 ? .own : nil) || parser.missingCount != length
                        || 16 + length > ProxyHeaderParser.bytesMax
                else { continue }
                Issue.record("a header of \(length) bytes more was taken for \(String(describing: header))")
            } catch {
                guard error != .tooLong || 16 + length <= ProxyHeaderParser.bytesMax else { continue }
                Issue.record("a header of \(length) bytes more: \(error)")
            }
        }
    }

    private static func take(
        _ bytes: [UInt8], _ parser: inout ProxyHeaderParser
    ) throws(ProxyHeaderError) -> ProxyHeader? {
        let result: Result<ProxyHeader?, ProxyHeaderError> = bytes.withUnsafeBytes { raw in
            do throws(ProxyHeaderError) { return .success(try parser.take(raw)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
