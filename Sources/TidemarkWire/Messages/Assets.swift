// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Assets.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Asks whether the server has an asset, and if not, how much of it this device has uploaded.
@usableFromInline
package struct WirePrepareAssetUpload: WireMessage {
    package var database = WireDatabaseScope()
    /// The zone of the record that will name the asset. It says who owns the database.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// 32 bytes. Empty for a draft whose hash is not known yet.
    package var sha256: [UInt8] = []
    package var byteCount: UInt64 = 0
    /// As in UploadAssetChunk.
    package var draft: [UInt8] = []
    package var checksum: [UInt8] = []

    @usableFromInline package init() {}
}

extension WirePrepareAssetUpload {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26: self.sha256 = try reader.content(atMost: 1_024)
            case 32: self.byteCount = try reader.uint64()
            case 42: self.draft = try reader.content(atMost: 1_024)
            case 50: self.checksum = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0x7E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !sha256.isEmpty {
            size += 1 + WireSize.content(sha256)
        }
        if byteCount != 0 {
            size += 1 + WireSize.uint64(byteCount)
        }
        if !draft.isEmpty {
            size += 1 + WireSize.content(draft)
        }
        if !checksum.isEmpty {
            size += 1 + WireSize.content(checksum)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if !sha256.isEmpty {
            writer.number(26)
            writer.content(sha256)
        }
        if byteCount != 0 {
            writer.number(32)
            writer.uint64(byteCount)
        }
        if !draft.isEmpty {
            writer.number(42)
            writer.content(draft)
        }
        if !checksum.isEmpty {
            writer.number(50)
            writer.content(checksum)
        }
    }
}

/// The next bytes of an asset. Chunks of one asset come in order. A chunk that does not begin where the server's bytes
/// end changes nothing, and the answer says where to go on.
@usableFromInline
package struct WireUploadAssetChunk: WireMessage {
    package var database = WireDatabaseScope()
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// 32 bytes. Empty for a part of a draft whose hash is not known yet.
    package var sha256: [UInt8] = []
    package var byteCount: UInt64 = 0
    package var offset: UInt64 = 0
    /// At most ServerLimits.asset_chunk_bytes_max. Empty for an asset without bytes.
    package var content: ArraySlice<UInt8> = []
    /// The name of the upload: 32 bytes that the device chooses, so that it can begin before it knows the hash. The
    /// chunk that completes the upload also has the hash, or asks for it. Empty: the hash names the upload.
    package var draft: [UInt8] = []
    /// In the chunk that completes a draft, without a hash: the server makes an asset of the draft and answers with its
    /// hash. It does so only if it received the draft without a break. Otherwise it answers that it has all bytes and
    /// that the upload is not complete. Then the device sends the hash, in a chunk without content.
    package var isNamedByContent = false
    /// The checksum of the whole asset, in the message that completes the upload. The server keeps it for those who
    /// download. Empty if the device did not compute it. It has 16 bytes: GMAC (NIST SP 800-38D) with AES-128, key and
    /// nonce all zeros. It finds damage faster than the hash. It proves nothing against people.
    package var checksum: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireUploadAssetChunk {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26: self.sha256 = try reader.content(atMost: 1_024)
            case 32: self.byteCount = try reader.uint64()
            case 40: self.offset = try reader.uint64()
            case 50: self.content = try reader.slice(atMost: 4_194_304)
            case 58: self.draft = try reader.content(atMost: 1_024)
            case 64: self.isNamedByContent = try reader.flag()
            case 74: self.checksum = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0x3FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !sha256.isEmpty {
            size += 1 + WireSize.content(sha256)
        }
        if byteCount != 0 {
            size += 1 + WireSize.uint64(byteCount)
        }
        if offset != 0 {
            size += 1 + WireSize.uint64(offset)
        }
        if !content.isEmpty {
            size += 1 + WireSize.content(content)
        }
        if !draft.isEmpty {
            size += 1 + WireSize.content(draft)
        }
        if isNamedByContent {
            size += 1 + WireSize.flag(isNamedByContent)
        }
        if !checksum.isEmpty {
            size += 1 + WireSize.content(checksum)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if !sha256.isEmpty {
            writer.number(26)
            writer.content(sha256)
        }
        if byteCount != 0 {
            writer.number(32)
            writer.uint64(byteCount)
        }
        if offset != 0 {
            writer.number(40)
            writer.uint64(offset)
        }
        if !content.isEmpty {
            writer.number(50)
            writer.content(content)
        }
        if !draft.isEmpty {
            writer.number(58)
            writer.content(draft)
        }
        if isNamedByContent {
            writer.number(64)
            writer.flag(isNamedByContent)
        }
        if !checksum.isEmpty {
            writer.number(74)
            writer.content(checksum)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireUploadAssetChunk {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var database: UInt32 { 8 }
        @inlinable package static var zone: UInt32 { 18 }
        @inlinable package static var sha256: UInt32 { 26 }
        @inlinable package static var byteCount: UInt32 { 32 }
        @inlinable package static var offset: UInt32 { 40 }
        @inlinable package static var content: UInt32 { 50 }
        @inlinable package static var draft: UInt32 { 58 }
        @inlinable package static var isNamedByContent: UInt32 { 64 }
        @inlinable package static var checksum: UInt32 { 74 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Sha256: WireContent, Content: WireContent, Draft: WireContent, Checksum: WireContent>(
        database: WireDatabaseScope = WireDatabaseScope(),
        sha256: Sha256 = [UInt8](),
        byteCount: UInt64 = 0,
        offset: UInt64 = 0,
        content: Content = [UInt8](),
        draft: Draft = [UInt8](),
        isNamedByContent: Bool = false,
        checksum: Checksum = [UInt8](),
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if database != WireDatabaseScope() { size += 1 + WireSize.choice(database) }
            if sha256.byteCount > 0 { size += 1 + WireSize.content(sha256) }
            if byteCount != 0 { size += 1 + WireSize.uint64(byteCount) }
            if offset != 0 { size += 1 + WireSize.uint64(offset) }
            if content.byteCount > 0 { size += 1 + WireSize.content(content) }
            if draft.byteCount > 0 { size += 1 + WireSize.content(draft) }
            if isNamedByContent { size += 1 + WireSize.flag(isNamedByContent) }
            if checksum.byteCount > 0 { size += 1 + WireSize.content(checksum) }
            return writer.count(size)
        }
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if sha256.byteCount > 0 {
            writer.number(26)
            writer.content(sha256)
        }
        if byteCount != 0 {
            writer.number(32)
            writer.uint64(byteCount)
        }
        if offset != 0 {
            writer.number(40)
            writer.uint64(offset)
        }
        if content.byteCount > 0 {
            writer.number(50)
            writer.content(content)
        }
        if draft.byteCount > 0 {
            writer.number(58)
            writer.content(draft)
        }
        if isNamedByContent {
            writer.number(64)
            writer.flag(isNamedByContent)
        }
        if checksum.byteCount > 0 {
            writer.number(74)
            writer.content(checksum)
        }
    }

    /// The size of the field `zone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zone`. The bytes of its message must follow.
    @inlinable
    package static func begin(zone byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// The state of an upload.
@usableFromInline
package struct WireAssetProgress: WireMessage {
    /// Bytes that the server has.
    package var offset: UInt64 = 0
    /// The server has all bytes, they have the announced hash, and they are durable.
    package var isComplete = false
    /// The asset's hash, if the chunk asked for it and completed the upload.
    package var sha256: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireAssetProgress {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.offset = try reader.uint64()
            case 16: self.isComplete = try reader.flag()
            case 26: self.sha256 = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if offset != 0 {
            size += 1 + WireSize.uint64(offset)
        }
        if isComplete {
            size += 1 + WireSize.flag(isComplete)
        }
        if !sha256.isEmpty {
            size += 1 + WireSize.content(sha256)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if offset != 0 {
            writer.number(8)
            writer.uint64(offset)
        }
        if isComplete {
            writer.number(16)
            writer.flag(isComplete)
        }
        if !sha256.isEmpty {
            writer.number(26)
            writer.content(sha256)
        }
    }
}

/// Asks for some bytes of an asset, through a record that names it and that the caller may read.
@usableFromInline
package struct WireFetchAssetChunk: WireMessage {
    package var database = WireDatabaseScope()
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// The name of the record.
    package var record = ""
    package var sha256: [UInt8] = []
    package var byteCount: UInt64 = 0
    package var offset: UInt64 = 0
    /// At most ServerLimits.asset_chunk_bytes_max.
    package var length: UInt32 = 0
    /// Asks for the checksum of the whole asset, without bytes. Offset and length mean nothing then.
    package var wantsChecksum = false

    @usableFromInline package init() {}
}

extension WireFetchAssetChunk {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26: self.record = try reader.text(atMost: 65_536)
            case 34: self.sha256 = try reader.content(atMost: 1_024)
            case 40: self.byteCount = try reader.uint64()
            case 48: self.offset = try reader.uint64()
            case 56: self.length = try reader.uint32()
            case 64: self.wantsChecksum = try reader.flag()
            default: try reader.skip(tag, known: 0x1FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !record.isEmpty {
            size += 1 + WireSize.text(record)
        }
        if !sha256.isEmpty {
            size += 1 + WireSize.content(sha256)
        }
        if byteCount != 0 {
            size += 1 + WireSize.uint64(byteCount)
        }
        if offset != 0 {
            size += 1 + WireSize.uint64(offset)
        }
        if length != 0 {
            size += 1 + WireSize.uint32(length)
        }
        if wantsChecksum {
            size += 1 + WireSize.flag(wantsChecksum)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if !record.isEmpty {
            writer.number(26)
            writer.text(record)
        }
        if !sha256.isEmpty {
            writer.number(34)
            writer.content(sha256)
        }
        if byteCount != 0 {
            writer.number(40)
            writer.uint64(byteCount)
        }
        if offset != 0 {
            writer.number(48)
            writer.uint64(offset)
        }
        if length != 0 {
            writer.number(56)
            writer.uint32(length)
        }
        if wantsChecksum {
            writer.number(64)
            writer.flag(wantsChecksum)
        }
    }
}

/// Some bytes of an asset, or its checksum.
@usableFromInline
package struct WireAssetChunk: WireMessage {
    /// As many bytes as were asked for; fewer only at the asset's end.
    package var content: ArraySlice<UInt8> = []
    /// As in UploadAssetChunk, if it was asked for. Empty if the server has none. A client that downloads all of the
    /// asset from this server without a break compares it with the checksum of what came. Otherwise, or if they differ,
    /// the hash is the proof.
    package var checksum: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireAssetChunk {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.content = try reader.slice()
            case 18: self.checksum = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !content.isEmpty {
            size += 1 + WireSize.content(content)
        }
        if !checksum.isEmpty {
            size += 1 + WireSize.content(checksum)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !content.isEmpty {
            writer.number(10)
            writer.content(content)
        }
        if !checksum.isEmpty {
            writer.number(18)
            writer.content(checksum)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireAssetChunk {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var content: UInt32 { 10 }
        @inlinable package static var checksum: UInt32 { 18 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Content: WireContent, Checksum: WireContent>(
        content: Content = [UInt8](), checksum: Checksum = [UInt8](), to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if content.byteCount > 0 { size += 1 + WireSize.content(content) }
            if checksum.byteCount > 0 { size += 1 + WireSize.content(checksum) }
            return writer.count(size)
        }
        if content.byteCount > 0 {
            writer.number(10)
            writer.content(content)
        }
        if checksum.byteCount > 0 {
            writer.number(18)
            writer.content(checksum)
        }
    }
}
