// SPDX-License-Identifier: Apache-2.0

/// Writes frames (RFC 6455 §5.2).
package enum FrameEncoder {
    /// Appends one frame to `output`, masked if `maskKey` is given.
    package static func append(
        _ opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false, payload: UnsafeRawBufferPointer,
        maskKey: UInt32? = nil, to output: inout [UInt8]
    ) {
        appendHeader(
            FrameHeader(
                opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, maskKey: maskKey,
                payloadCount: payload.count),
            to: &output)
        let start = output.count
        output.append(contentsOf: payload)
        guard let maskKey, !payload.isEmpty else { return }
        output.withUnsafeMutableBytes {
            Masking.apply(key: maskKey, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
        }
    }

    /// A server's frame as bytes, to be sent to many peers.
    package static func frame(_ opcode: Opcode, payload: [UInt8], maskKey: UInt32? = nil) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(payload.count + FrameHeader.byteCountMax)
        payload.withUnsafeBytes { append(opcode, payload: $0, maskKey: maskKey, to: &output) }
        return output
    }

    /// A close frame's payload: the code and as much of the reason as fits, cut between two characters.
    package static func closePayload(_ code: CloseCode?, reason: String = "") -> [UInt8] {
        guard let code, code.isValidOnWire else { return [] }
        var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar).map(Array.init) ?? []
            guard payload.count + encoded.count <= FrameHeader.controlPayloadBytesMax else { break }
            payload.append(contentsOf: encoded)
        }
        return payload
    }

    /// Appends a header with the shortest encoding of its length.
    package static func appendHeader(_ header: FrameHeader, to output: inout [UInt8]) {
        // Room for 14 bytes, filled and then appended at once.
        var bytes: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &bytes) { raw in
            let count = write(header, to: raw)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: raw[..<count]))
        }
    }

    private static func write(_ header: FrameHeader, to raw: UnsafeMutableRawBufferPointer) -> Int {
        raw[0] = (header.isFinal ? 0x80 : 0) | (header.isCompressed ? 0x40 : 0) | header.opcode.rawValue
        let mask: UInt8 = header.maskKey == nil ? 0 : 0x80
        var count: Int
        switch header.payloadCount {
        case ...125:
            raw[1] = mask | UInt8(header.payloadCount)
            count = 2
        case ...0xFFFF:
            raw[1] = mask | 126
            raw.storeBytes(of: UInt16(header.payloadCount).bigEndian, toByteOffset: 2, as: UInt16.self)
            count = 4
        default:
            raw[1] = mask | 127
            raw.storeBytes(of: UInt64(header.payloadCount).bigEndian, toByteOffset: 2, as: UInt64.self)
            count = 10
        }
        if let key = header.maskKey {
            raw.storeBytes(of: key.littleEndian, toByteOffset: count, as: UInt32.self)
            count += 4
        }
        return count
    }
}
