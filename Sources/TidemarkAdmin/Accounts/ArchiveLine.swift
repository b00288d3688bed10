// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// A line of an account's archive. What follows a container or a zone belongs to it. Keys of a zone come before its
/// records, and an asset comes, in pieces, before the first record that names it.
enum ArchiveLine: Codable, Equatable {
    case account(Account)
    case container(Container)
    case zone(Zone)
    case zoneKey(Key)
    case asset(Asset)
    case record(RecordLine)
    case share(Sharing)
    case end(End)

    /// The first line.
    struct Account: Codable, Equatable {
        let version: Int
        let account: String
        var givenName: String?
        var familyName: String?
    }

    struct Container: Codable, Equatable {
        let container: String
        let environment: EnvironmentName
        /// The name of the account's user record there.
        let user: String
        /// How the account's key is kept.
        var encryption: EncryptionArgument?
    }

    struct Zone: Codable, Equatable {
        let zone: String
        /// Whether it is encrypted as a whole.
        let isPerZone: Bool
    }

    /// A key of the zone's encrypted values.
    struct Key: Codable, Equatable {
        let id: String
        /// With which key of the account it is encrypted.
        let accountKey: String
        /// In Base64, as it is stored.
        let wrapped: String
        /// The key itself, in Base64: only if the operator gave the master key.
        var key: String?

        init(_ key: WrappedZoneKey, opened: [UInt8]?) {
            id = Hex.encode(key.id)
            accountKey = Hex.encode(key.accountKeyID)
            wrapped = Base64.encode(key.wrapped)
            self.key = opened.map { Base64.encode($0) }
        }

        /// Nil if it is no such key.
        var wrappedKey: WrappedZoneKey? {
            guard let id = Hex.decode(id), let account = Hex.decode(accountKey), let bytes = Base64.decode(wrapped)
            else { return nil }
            let key = WrappedZoneKey(id: id, accountKeyID: account, wrapped: bytes)
            return key.refusal == nil ? key : nil
        }

        /// Nil if the key itself is not here.
        var opened: [UInt8]? {
            key.flatMap { Base64.decode($0) }.flatMap { $0.count == AccountKey.keyByteCount ? $0 : nil }
        }
    }

    /// Who takes part in the zone, or in a hierarchy of it.
    struct Sharing: Codable, Equatable {
        /// The CKShare record.
        let record: RecordLine
        /// What everybody with the link may do.
        let publicPermission: String
        /// The accepted and the invited ones, without the owner.
        let participants: [Person]
        /// The name of the hierarchy's root, whose record comes before; nil: the whole zone is shared.
        var root: String?
    }

    /// A participant, and by what another server may know the person.
    struct Person: Codable, Equatable {
        /// The account's name.
        var account: String?
        /// To which the invitation went.
        var address: String?
        let role: String
        let permission: String
        let status: String
    }

    /// The last line: what the archive has, and what it lacks.
    struct End: Codable, Equatable {
        var zones = 0
        var records = 0
        var assets = 0
        var shares = 0
        var lacks = Lacks()
    }

    /// What there is and an archive does not have.
    struct Lacks: Codable, Equatable {
        /// Values whose keys are not in it.
        var encryptedValues = 0
        /// Contents of assets.
        var assets = 0

        var isNothing: Bool { self == Lacks() }
    }

    /// A piece of an asset.
    struct Asset: Codable, Equatable {
        let sha256: String
        let bytes: Int64
        let offset: Int64
        /// In Base64.
        let data: String

        init(_ asset: FieldAsset, offset: Int64, _ data: [UInt8]) {
            sha256 = Hex.encode(asset.sha256)
            bytes = asset.byteCount
            self.offset = offset
            self.data = Base64.encode(data)
        }

        /// Nil if it is no piece of an asset.
        var piece: (asset: FieldAsset, data: [UInt8])? {
            guard let hash = Hex.decode(sha256), hash.count == FieldAsset.sha256ByteCount, bytes >= 0, offset >= 0,
                let data = Base64.decode(data), Int64(data.count) <= bytes - min(offset, bytes)
            else { return nil }
            return (FieldAsset(sha256: hash, byteCount: bytes), data)
        }
    }

    static let version = 1

    /// - Throws: ``InputMistake`` if it is no such line.
    init(parsing line: [UInt8]) throws(InputMistake) {
        do {
            self = try JSONDecoder().decode(ArchiveLine.self, from: Data(line))
        } catch {
            throw InputMistake("This line is not of an archive as `accounts export` writes it.")
        }
    }

    /// With its end.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self).harmlessJSON + "\n"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case account, container, zone, zoneKey, asset, record, share, end
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "one of the kinds of lines"))
        }
        self =
            switch key {
            case .account: .account(try container.decode(Account.self, forKey: key))
            case .container: .container(try container.decode(Container.self, forKey: key))
            case .zone: .zone(try container.decode(Zone.self, forKey: key))
            case .zoneKey: .zoneKey(try container.decode(Key.self, forKey: key))
            case .share: .share(try container.decode(Sharing.self, forKey: key))
            case .end: .end(try container.decode(End.self, forKey: key))
            case .asset: .asset(try container.decode(Asset.self, forKey: key))
            case .record: .record(try container.decode(RecordLine.self, forKey: key))
            }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .account(let line): try container.encode(line, forKey: .account)
        case .container(let line): try container.encode(line, forKey: .container)
        case .zone(let line): try container.encode(line, forKey: .zone)
        case .zoneKey(let line): try container.encode(line, forKey: .zoneKey)
        case .share(let line): try container.encode(line, forKey: .share)
        case .end(let line): try container.encode(line, forKey: .end)
        case .asset(let line): try container.encode(line, forKey: .asset)
        case .record(let line): try container.encode(line, forKey: .record)
        }
    }
}
