// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkDomain
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Airports of the world, or some of them, and what queries on them must find.
struct Airports {
    /// What the file says, by column.
    typealias Row = [String: String]

    let rows: [Row]
    /// How many records each of ``questions`` finds, counted by other means.
    let counts: [Int]

    /// The file as records: what a mapping says of it.
    static let mapping = """
        type Airport
        name icao
        underscore x              # R-040: no name begins with one
        field elevation double
        field location location lat lon elevation*0.3048
        field country reference deleteSelf
        """

    static let schema = """
        DEFINE SCHEMA
            RECORD TYPE Airport (
                country REFERENCE QUERYABLE,
                elevation DOUBLE QUERYABLE SORTABLE,
                iata STRING QUERYABLE,
                location LOCATION QUERYABLE,
                name STRING QUERYABLE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );
        """

    struct Question: Sendable {
        let predicate: String
        /// As on a command line.
        var arguments: [String] = []
        /// The indexes any of which is good for it.
        let indexes: [PhysicalIndex.Kind]
        let matches: @Sendable (Row) -> Bool
    }

    static let questions = [
        Question(predicate: "country == %@", arguments: ["reference:IS"], indexes: [country]) {
            $0["country"] == "IS"
        },
        Question(predicate: "elevation > 10000", indexes: [elevation]) { elevation($0) ?? 0 > 10_000 },
        Question(
            predicate: "elevation BETWEEN {8000, 9000} AND country == %@", arguments: ["reference:US"],
            indexes: [elevation, country]
        ) { (8_000...9_000).contains(elevation($0) ?? 0) && $0["country"] == "US" },
        Question(predicate: "name BEGINSWITH \"Lake\"", indexes: [.scalar("name", .order)]) {
            $0["name"]?.hasPrefix("Lake") == true
        },
        Question(predicate: "country IN %@", arguments: ["references:FI,SE,NO"], indexes: [country]) {
            ["FI", "SE", "NO"].contains($0["country"])
        },
        // So many have one that going through all in the order of their creation is as good.
        Question(predicate: "iata != nil", indexes: [.scalar("iata", .equality), .creationDate]) { $0["iata"] != nil },
        Question(
            predicate: "distanceToLocation:fromLocation:(location, %@) < 100000",
            arguments: ["location:64.1466,-21.9426"], indexes: [location]
        ) { distance($0) < 100_000 },
    ]

    static let country = PhysicalIndex.Kind.scalar("country", .equality)
    static let elevation = PhysicalIndex.Kind.scalar("elevation", .equality)
    static let location = PhysicalIndex.Kind.place("location")

    static let nearest = ["BIRK", "BIMS", "BISS", "BIKF", "BISF"]
    static let highest = ["SPNH 14965.0", "SPFA 14809.0", "ZUDC 14472.0", "SPRF 14422.0", "SLUU 14360.0"]

    /// By the name of the record.
    func names(_ question: Question) -> Set<String> { Set(rows.filter(question.matches).map(Self.name)) }

    static func name(_ row: Row) -> String {
        let code = row["icao"] ?? ""
        return code.hasPrefix("_") ? "x" + code : code
    }

    private static func elevation(_ row: Row) -> Double? { row["elevation"].flatMap { Double($0) } }

    /// Metres from a place in Reykjavík.
    private static func distance(_ row: Row) -> Double {
        guard let latitude = row["lat"].flatMap({ Double($0) }), let longitude = row["lon"].flatMap({ Double($0) })
        else { return .infinity }
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let height = sin(radians(latitude - 64.1466) / 2)
        let width = sin(radians(longitude + 21.9426) / 2)
        let square = height * height + cos(radians(64.1466)) * cos(radians(latitude)) * width * width
        return 2 * 6_371_008.8 * asin(square.squareRoot())
    }

    // MARK: Which airports

    /// The first lines of a file.
    static func head(_ file: String, lineCount: Int) throws -> String {
        let input = try InputFile(path: file)
        var (bytes, count) = ([UInt8](), 0)
        while count < lineCount, let byte = try input.next() {
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { count += 1 }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func read(_ file: String, counts: [Int]) throws -> Airports {
        var reader = try CSVReader(try InputFile(path: file))
        var rows: [Row] = []
        while let row = try reader.next() {
            rows.append(try row.values.get().compactMapValues { if case .text(let text) = $0 { text } else { nil } })
        }
        return Airports(rows: rows, counts: counts)
    }

    /// Some, and many without a name that nothing finds, so that an index is worth it.
    static let some: String = {
        let others = (0..<2_000).map { "Q\($0),,Field \($0),,\($0),\(-60 - Double($0) / 100),\(Double($0) / 20),UTC" }
        return ([listed] + others).joined(separator: "\n")
    }()
    static let someCounts = [19, 6, 4, 4, 6, 15, 16]

    /// From the package airportsdata (MIT).
    private static let listed = """
        icao,iata,name,country,elevation,lat,lon,tz
        02AN,,Emerald Ridge Airport,US,221.7,59.704223,-151.295869,America/Anchorage
        03FA,,Lake Persimmon Airstrip,US,70,27.353098,-81.408129,America/New_York
        07MO,,Lake Sexton Airport,US,880,38.650015,-93.616879,America/Chicago
        0CO2,CSE,Crested Butte Airpark,US,8980,38.851937,-106.932821,America/Denver
        0CO6,,Flying M & M Ranch Airport,US,8000,38.219434,-108.213133,America/Denver
        0GA2,,"Airnautique, Inc Airport",US,720,34.382269,-82.945486,America/New_York
        0NM7,,Negrito Airstrip,US,8143,33.520894,-108.542837,America/Denver
        0PN0,,Lakeview Airport,US,1317,41.441947,-80.155094,America/New_York
        17MT,,Lakeshore Heritage Airpark,US,2900,48.107056,-114.17725,America/Denver
        25CO,,Crystal Lakes Airport,US,8440,40.851647,-105.63305,America/Denver
        BIAE,,Arngerdareyri Airport,IS,20,65.9047,-22.3633,Atlantic/Reykjavik
        BIAL,,Alftaver Airport,IS,160,63.54,-18.4494,Atlantic/Reykjavik
        BIAR,AEY,Akureyri Airport,IS,6,65.66,-18.0727,Atlantic/Reykjavik
        BIEH,,Einholtsmelar Airport,IS,361,64.25,-20.3,Atlantic/Reykjavik
        BIFL,,Fludir Airport,IS,270,64.1428,-20.3261,Atlantic/Reykjavik
        BIFZ,,Forsaeti Airport,IS,32,63.85,-20.717,Atlantic/Reykjavik
        BIGE,,Geysir Airport,IS,350,64.3108,-20.2706,Atlantic/Reykjavik
        BIGH,,Gunnarsholt Airport,IS,200,63.8533,-20.2628,Atlantic/Reykjavik
        BIHL,,Hella Airport,IS,66,63.8358,-20.3775,Atlantic/Reykjavik
        BIHR,,Hvolsvollur Airport,IS,109,63.7539,-20.2442,Atlantic/Reykjavik
        BIHZ,,Husafell Airport,IS,380,64.6997,-20.8836,Atlantic/Reykjavik
        BIKA,,Kaldarmelar Airport,IS,160,64.7789,-22.2569,Atlantic/Reykjavik
        BIKF,KEF,Keflavik International Airport,IS,171,63.985,-22.6056,Atlantic/Reykjavik
        BIMS,,Tungubakkar Airport,IS,5,64.1811,-21.7078,Atlantic/Reykjavik
        BIRK,RKV,Reykjavik Airport,IS,48,64.13,-21.9406,Atlantic/Reykjavik
        BISF,,Selfoss Airport,IS,45,63.9292,-21.0378,Atlantic/Reykjavik
        BISR,,Storikroppur Airport,IS,165,64.6344,-21.4875,Atlantic/Reykjavik
        BISS,,Sandskeid Airport,IS,600,64.0608,-21.5747,Atlantic/Reykjavik
        BIVA,,Vatnsnes Airport,IS,0,64.0331,-20.6511,Atlantic/Reykjavik
        BKPR,PRN,Pristina International Airport,XK,1789,42.57283,21.03583,Europe/Belgrade
        EFET,ENF,Enontekio Airport,FI,1005,68.3626,23.4243,Europe/Helsinki
        EFHA,KEV,Halli Airport,FI,479,61.856,24.7866,Europe/Helsinki
        ENAL,AES,Ålesund Airport,NO,69,62.5625,6.1197,Europe/Oslo
        ENAN,ANX,Andøya Airport,NO,43,69.2925,16.1442,Europe/Oslo
        ESDF,RNB,Ronneby Airport,SE,191,56.2667,15.265,Europe/Stockholm
        ESGG,GOT,Gothenburg-Landvetter Airport,SE,506,57.6628,12.2798,Europe/Stockholm
        FXML,,Malefiloane Airstrip,LS,8267,-29.3355,29.1853,Africa/Maseru
        HADM,DBM,Debra Marcos Airport,ET,8136,10.35,37.717,Africa/Addis_Ababa
        SLUU,,Ulla Ulla Airport,BO,14360,-15.03333,-69.25,America/La_Paz
        SPFA,,Fausa Airport,PE,14809,-14.7094,-71.7311,America/Lima
        SPNH,,Laguna Choclococha Airport,PE,14965,-13.1657,-75.072,America/Lima
        SPRF,,San Rafael Airport,PE,14422,-14.267,-70.467,America/Lima
        ZUBD,BPX,Qamdo Bangda Airport,CN,14219,30.5536,97.1083,Asia/Shanghai
        ZUDC,DCY,Daocheng Yading Airport,CN,14472,29.32306,100.05333,Asia/Shanghai
        _AYM,AYM,Yas Island Seaplane Base,AE,0,24.467,54.6103,Asia/Dubai
        """
}
