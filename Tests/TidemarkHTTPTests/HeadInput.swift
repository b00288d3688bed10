// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

enum Verdict<Head: Equatable>: Equatable {
    case needMore
    case head(Head, Int)
    case error(HTTPError.Code)
}

/// Feeds parsers in the ways in which a network does: all at once, byte by byte, and in two parts cut at every point.
enum HeadInput {
    static func requests(_ text: String, limits: HeadLimits = HeadLimits()) -> [Verdict<RequestHead>] {
        verdicts(text) {
            var parser = RequestHeadParser(limits: limits)
            return { bytes in verdict { () throws(HTTPError) in try parser.parse(bytes) } }
        }
    }

    static func responses(_ text: String, limits: HeadLimits = HeadLimits()) -> [Verdict<ResponseHead>] {
        verdicts(text) {
            var parser = ResponseHeadParser(limits: limits)
            return { bytes in verdict { () throws(HTTPError) in try parser.parse(bytes) } }
        }
    }

    private static func verdict<Head: Equatable>(
        _ parse: () throws(HTTPError) -> HeadProgress<Head>
    ) -> Verdict<Head> {
        do throws(HTTPError) {
            guard case .complete(let head, let count) = try parse() else { return .needMore }
            return .head(head, count)
        } catch {
            return .error(error.code)
        }
    }

    private static func verdicts<Head: Equatable>(
        _ text: String, _ makeParser: () -> (UnsafeRawBufferPointer) -> Verdict<Head>
    ) -> [Verdict<Head>] {
        let bytes = Array(text.utf8)
        let splits = [[bytes.count], Array(0...bytes.count)] + (0..<bytes.count).map { [$0, bytes.count] }
        return splits.map { cuts in
            let parse = makeParser()
            for cut in cuts {
                // Memory of exactly this size, so that an over-read reads what is not ours.
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: cut, alignment: 1)
                defer { copy.deallocate() }
                copy.copyBytes(from: bytes[..<cut])
                let verdict = parse(UnsafeRawBufferPointer(copy))
                if verdict != .needMore { return verdict }
            }
            return .needMore
        }
    }
}
