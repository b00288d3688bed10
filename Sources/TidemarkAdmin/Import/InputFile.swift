// SPDX-License-Identifier: Apache-2.0

/// The bytes of a file, one after the other, decompressed if they are gzip.
package final class InputFile {
    /// The name as it was given, for messages.
    let name: String
    /// Nil if it is unknown, as for a pipe.
    let byteCount: Int?
    /// Counted before decompression.
    private(set) var byteCountRead = 0
    /// How much of it was read; nil if its size is unknown.
    var fractionRead: Double? { byteCount.map { Double(byteCountRead) / Double(max($0, 1)) } }
    private let source: any ByteSource
    private var gunzip: Gunzip?
    private var buffer: [UInt8] = []
    private var place = 0
    private var isAtEnd = false
    /// The first bytes as they are stored, until they are read; nil: they were.
    private var head: [UInt8]?

    /// Enough to see whether a file is gzip, or begins with a byte order mark.
    private static let headBytes = 4

    /// - Parameter path: of this machine; `-` for standard input.
    convenience init(path: String) throws(AdminFailure) {
        try self.init(try LocalFile(path: path))
    }

    init(_ source: any ByteSource) throws(AdminFailure) {
        self.source = source
        (name, byteCount) = (source.name, source.byteCount)
        var head = try readChunk()
        // A pipe may give its first bytes one by one.
        while !isAtEnd, head.count < Self.headBytes { head += try readChunk() }
        gunzip = Gunzip.isGzip(head) ? try Gunzip() : nil
        self.head = head
    }

    /// The next bytes as they are stored, compressed or not; empty at the end. A file is read in this way or in the other.
    func storedPart() throws(AdminFailure) -> [UInt8] {
        guard let head else { return try source.read() }
        self.head = nil
        return head
    }

    /// Nil at the end.
    func peek() throws(AdminFailure) -> UInt8? {
        while place == buffer.count {
            guard !isAtEnd || head != nil else {
                try checkEnd()
                return nil
            }
            let chunk: [UInt8]
            if let head { chunk = head } else { chunk = try readChunk() }
            head = nil
            buffer = try gunzip?.inflate(chunk) ?? chunk
            place = 0
        }
        return buffer[place]
    }

    /// Nil at the end.
    func next() throws(AdminFailure) -> UInt8? {
        let byte = try peek()
        if byte != nil { place += 1 }
        return byte
    }

    /// Skips these bytes if the file begins with them. Call it before anything is read.
    func skip(_ head: [UInt8]) throws(AdminFailure) {
        if try peek() != nil, buffer.starts(with: head) { place = head.count }
    }

    /// Empty at the end.
    private func readChunk() throws(AdminFailure) -> [UInt8] {
        let bytes = try source.read()
        byteCountRead += bytes.count
        isAtEnd = bytes.isEmpty
        return bytes
    }

    private func checkEnd() throws(AdminFailure) {
        guard gunzip?.isInMember != true else {
            throw AdminFailure(
                .usage, "\(name) is incomplete: the end of the gzip data is missing. Download it again.")
        }
    }
}

extension InputFile {
    /// All of it, as text.
    ///
    /// - Throws: ``AdminFailure`` if it is not UTF-8, or longer.
    package func text(byteCountMax: Int) throws(AdminFailure) -> String {
        var bytes: [UInt8] = []
        while let byte = try next() {
            guard bytes.count < byteCountMax else { throw AdminFailure(.usage, "\(name) is too long.") }
            bytes.append(byte)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AdminFailure(.usage, "The file \(name) is not text in UTF-8. Convert it first.")
        }
        return text
    }
}
