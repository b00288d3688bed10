// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// A line of an account's archive. What follows a container or a zone belongs to it. An asset comes before the first
/// record that names it, in pieces.
enum ArchiveLine: Codable, Equatable {
    case account(Account)
    case container(Container)
    case zone(Zone)
    case asset(Asset)
    case record(RecordLine)

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
    }

    struct Zone: Codable, Equatable {
        let zone: String
        /// Whether it is encrypted as a whole.
        let isPerZone: Bool
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
        case account, container, zone, asset, record
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
        case .asset(let line): try container.encode(line, forKey: .asset)
        case .record(let line): try container.encode(line, forKey: .record)
        }
    }
}
