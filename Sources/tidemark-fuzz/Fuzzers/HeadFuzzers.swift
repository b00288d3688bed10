// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

extension Fuzzer {
    /// A request head: every split of its bytes gives the same verdict, and an accepted head is printed and read again
    /// as the same head.
    static let requestHead = Fuzzer(name: "request-head", seeds: { HeadSeeds.requests }) {
        input throws(Finding) in
        var accepted = false
        for limits in HeadSeeds.limits {
            let head = try HeadVerdict.check(input) {
                var parser = RequestHeadParser(limits: limits)
                return { (bytes) throws(HTTPError) in try parser.parse(bytes) }
            }
            guard let head else { continue }
            accepted = true
            try Finding.unless(head.path.utf8.count <= head.target.utf8.count + 1, "path longer than its target")
            let printed = head.serialized()
            guard printed.count <= limits.headBytesMax / 2 else { continue }
            var again = RequestHeadParser()
            let parsed = try HeadVerdict.verdict { () throws(HTTPError) in try again.parse(printed) }
            try Finding.unless(
                parsed == .success(.complete(head, byteCount: printed.count)), "printed head reads as \(parsed)")
        }
        return accepted
    }

    /// A response head, in the same way.
    static let responseHead = Fuzzer(name: "response-head", seeds: { HeadSeeds.responses }) {
        input throws(Finding) in
        var accepted = false
        for limits in HeadSeeds.limits {
            let head = try HeadVerdict.check(input) {
                var parser = ResponseHeadParser(limits: limits)
                return { (bytes) throws(HTTPError) in try parser.parse(bytes) }
            }
            guard let head else { continue }
            accepted = true
            let printed = head.serialized()
            guard printed.count <= limits.headBytesMax / 2 else { continue }
            var again = ResponseHeadParser()
            let parsed = try HeadVerdict.verdict { () throws(HTTPError) in try again.parse(printed) }
            try Finding.unless(
                parsed == .success(.complete(head, byteCount: printed.count)), "printed head reads as \(parsed)")
        }
        return accepted
    }
}

/// A parser's final verdict, for the whole input and for pieces.
private enum HeadVerdict {
    typealias Verdict<Head> = Result<HeadProgress<Head>, HTTPError>

    static func verdict<Head>(
        _ parse: () throws(HTTPError) -> HeadProgress<Head>
    ) throws(Finding) -> Verdict<Head> {
        do throws(HTTPError) { return .success(try parse()) } catch { return .failure(error) }
    }

    /// The head, if the input is one. Throws if a split of it is read differently.
    ///
    /// - Parameter parser: makes a new parser, as a function that takes all bytes that have arrived.
    static func check<Head: Equatable>(
        _ input: [UInt8],
        _ parser: () -> ((UnsafeRawBufferPointer) throws(HTTPError) -> HeadProgress<Head>)
    ) throws(Finding) -> Head? {
        let parseWhole = parser()
        let whole = try verdict { () throws(HTTPError) in try input.lend(0..<input.count, to: parseWhole) }
        var random = FuzzRandom(input)
        let parseSplit = parser()
        var split = Verdict<Head>.success(.needMore)
        var count = 0
        for piece in random.split(input) {
            count += piece.count
            split = try verdict { () throws(HTTPError) in try input.lend(0..<count, to: parseSplit) }
            if split != .success(.needMore) { break }
        }
        try Finding.unless(whole == split, "whole \(whole), split \(split)")
        guard case .success(.complete(let head, let byteCount)) = whole else { return nil }
        try Finding.unless(byteCount <= input.count, "took \(byteCount) of \(input.count) bytes")
        return head
    }
}

extension [UInt8] {
    /// `withUnsafeBytes` for a function that throws a typed error.
    fileprivate func lend<Head>(
        _ range: Range<Int>, to parse: (UnsafeRawBufferPointer) throws(HTTPError) -> HeadProgress<Head>
    ) throws(HTTPError) -> HeadProgress<Head> {
        let result: Result<HeadProgress<Head>, HTTPError> = withUnsafeBytes { bytes in
            do throws(HTTPError) {
                return .success(try parse(UnsafeRawBufferPointer(rebasing: bytes[range])))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension RequestHeadParser {
    fileprivate mutating func parse(_ bytes: [UInt8]) throws(HTTPError) -> HeadProgress<RequestHead> {
        var copy = self
        defer { self = copy }
        return try bytes.lend(0..<bytes.count) { (bytes) throws(HTTPError) in try copy.parse(bytes) }
    }
}

extension ResponseHeadParser {
    fileprivate mutating func parse(_ bytes: [UInt8]) throws(HTTPError) -> HeadProgress<ResponseHead> {
        var copy = self
        defer { self = copy }
        return try bytes.lend(0..<bytes.count) { (bytes) throws(HTTPError) in try copy.parse(bytes) }
    }
}

private enum HeadSeeds {
    /// The usual limits, and some that short inputs reach.
    static let limits: [HeadLimits] = {
        var narrow = HeadLimits()
        (narrow.startLineBytesMax, narrow.headBytesMax, narrow.fieldCountMax) = (64, 256, 6)
        return [HeadLimits(), narrow]
    }()

    static let requests = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /?x=1 HTTP/1.1\r\nHost: [::1]:8443\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a.example:80\r\nX: \t y \t\r\n\r\nrest",
        "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
        "GET https://a.example/%20path?q=%41 HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: , chunked,\r\n\r\n",
        "GET / HTTP/1.0\r\nCookie: \u{E9}\r\n\r\n",
    ].map { Array($0.utf8) }

    static let responses = [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 200\r\n\r\n", "HTTP/1.0 599 \u{E9}t\u{E9}\r\nA:\r\nA: b\r\n\r\nrest",
    ].map { Array($0.utf8) }
}
