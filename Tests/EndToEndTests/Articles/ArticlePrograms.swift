// SPDX-License-Identifier: Apache-2.0

import CloudKit

// What the articles have in `main.swift`. Compiled only: a program has one configuration.

enum ArticlePrograms {
    static func gettingStarted() async throws {
        let notes = try Notes(file: URL(fileURLWithPath: "notes.json"))
        await notes.start(in: CKContainer.default().privateCloudDatabase)
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words.count == 2 { try await notes.write(words[1], to: words[0]) }
            for (name, note) in await notes.library.notes { print("\(name): \(note.text)") }
            for (name, problem) in await notes.problems { print("\(name) is not sent: \(problem)") }
        }
    }

    static func assets() async throws {
        let photos = Photos(database: CKContainer.default().privateCloudDatabase)
        try await photos.add(URL(fileURLWithPath: "beach.jpg"), named: "beach", caption: "The beach")
        try await photos.fetch("beach", to: URL(fileURLWithPath: "copy.jpg"))
    }

    static func encryptedValues() async throws {
        let diary = Diary(container: CKContainer.default())
        try await diary.write("Rain all day.", on: "2026-11-26")
        print(try await diary.text(on: "2026-11-26") ?? "nothing")
    }

    static func queries() async throws {
        let airports = AirportList(database: CKContainer.default().privateCloudDatabase)
        let reykjavik = CLLocation(latitude: 64.13, longitude: -21.94)
        try await airports.add("BIRK", "Reykjavík", elevation: 14, at: reykjavik, tags: ["city"])
        for record in try await airports.near(reykjavik, within: 50_000) {
            print(record["name"] as? String ?? "no name")
        }
    }

    static func sharing() async throws {
        let lists = ShoppingLists(container: CKContainer.default())
        await lists.start()
        var list = CKRecordZone.ID(zoneName: "Shopping")
        if let link = CommandLine.arguments.dropFirst().first, let url = URL(string: link) {
            list = try await lists.join(url)
        } else if let url = try await lists.publish(list, .readWrite) {
            print("Others start this program with \(url.absoluteString)")
        }
        while let line = readLine() {
            if !line.isEmpty { await lists.write(line, as: UUID().uuidString, in: list) }
            for item in await lists.items.values { print(item.text) }
        }
    }

    static func journal() async throws {
        let thermometer = try Thermometer(directory: URL(fileURLWithPath: "readings"))
        try await thermometer.start(in: CKContainer.default().privateCloudDatabase)
        while let line = readLine() {
            if let celsius = Double(line) { try await thermometer.measured(celsius) }
        }
    }
}
