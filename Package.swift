// swift-tools-version: 6.2
// Targets stand from the bottom layer up, so that this file reads as the architecture (see ARCHITECTURE.md).

import PackageDescription

/// Without `NonisolatedNonsendingByDefault`. With it, the requirements of a delegate would say something of isolation, which CloudKit's
/// do not. They would take the methods of an app's class off the main actor.
let kitSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let settings = kitSettings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func target(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func executable(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// Files of tests are compiled apart, so that the largest target uses all cores, and only what has changed is compiled again.
let testFlags = ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental"]

/// The tests run what is built for release. To optimise the tests themselves takes longer than it saves. The flag is unsafe for
/// products alone, and no product has tests.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude,
        swiftSettings: settings + [.unsafeFlags(testFlags, .when(configuration: .release))])
}

let package = Package(
    name: "tidemark",
    products: [
        .library(name: "TidemarkKit", targets: ["TidemarkKit"]),
        .library(name: "CloudKit", targets: ["CloudKit"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "TidemarkTestKit", targets: ["TidemarkTestKit"]),
        .executable(name: "tidemark", targets: ["tidemark"]),
        .executable(name: "foldersync", targets: ["foldersync"]),
        .executable(name: "sharedlists", targets: ["sharedlists"]),
        .executable(name: "cursors", targets: ["cursors"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // C: headers of the kernel and of the libraries that are wrapped; OpenSSL's start; fork and exec; SHA-256 in vectors.
        .systemLibrary(name: "CTidemarkEdit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(name: "CTidemarkEpoll"),
        .systemLibrary(name: "CTidemarkOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CTidemarkLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CTidemarkZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CTidemarkOpenSSLStart", dependencies: ["CTidemarkOpenSSL"]),
        .target(name: "CTidemarkSpawn"),
        .target(name: "CTidemarkSHA256"),

        // Ground: bytes, what time it is, what happened.
        target("TidemarkBytes"),
        target("TidemarkScheduling"),
        target("TidemarkTelemetry", [logging, metrics]),
        target("TidemarkFairness", [deque]),
        target("TidemarkFields", ["TidemarkBytes"]),
        target("TidemarkCrypto", ["CTidemarkOpenSSL", "CTidemarkOpenSSLStart", "CTidemarkSHA256"]),

        // Transport: from a file descriptor to a stream of messages.
        target("TidemarkSockets", ["TidemarkScheduling", "TidemarkTelemetry", "CTidemarkEpoll", deque]),
        target("TidemarkTLS", ["TidemarkBytes", "CTidemarkOpenSSL", "CTidemarkOpenSSLStart"]),
        target("TidemarkHTTP"),
        target("TidemarkWebSocket", ["TidemarkBytes", "TidemarkHTTP", "TidemarkCrypto", "CTidemarkZlib"]),
        target(
            "TidemarkTransport",
            [
                "TidemarkBytes", "TidemarkScheduling", "TidemarkTelemetry", "TidemarkFairness", "TidemarkCrypto",
                "TidemarkSockets", "TidemarkTLS", "TidemarkHTTP", "TidemarkWebSocket", deque,
            ]),

        // Traces of requests, and their way to a collector.
        target(
            "TidemarkTracing",
            [
                "TidemarkScheduling", "TidemarkTelemetry", "TidemarkSockets", "TidemarkTLS", "TidemarkHTTP",
                "TidemarkTransport", deque, tracing,
            ]),

        // The protocol: what clients and servers say to each other.
        target("TidemarkWire", ["TidemarkBytes"], exclude: ["Protos", "generate"]),

        // PostgreSQL through libpq.
        target(
            "TidemarkPostgres",
            ["TidemarkScheduling", "TidemarkSockets", "TidemarkTelemetry", "CTidemarkLibpq", deque]),
        target("TidemarkLocalPostgres", ["CTidemarkSpawn"]),

        // The rules, what carries them out, and where the result is kept.
        target("TidemarkDomain", ["TidemarkBytes", "TidemarkFields"]),
        target(
            "TidemarkTranslation",
            ["TidemarkBytes", "TidemarkFields", "TidemarkDomain", "TidemarkTelemetry", "TidemarkWire"]),
        target(
            "TidemarkService",
            [
                "TidemarkFields", "TidemarkDomain", "TidemarkCrypto", "TidemarkScheduling", "TidemarkFairness",
                "TidemarkTelemetry", deque,
            ]),
        .target(
            name: "TidemarkStore",
            dependencies: [
                "TidemarkBytes", "TidemarkFields", "TidemarkDomain", "TidemarkService", "TidemarkPostgres",
                "TidemarkScheduling", "TidemarkFairness", "TidemarkSockets", "TidemarkTelemetry", "TidemarkCrypto",
            ],
            // A link to migrations/: `PackageResources._001_create_store_sql` is the file 0001_create_store.sql.
            resources: [.embedInCode("Migrations/Scripts")], swiftSettings: settings),
        target(
            "TidemarkAssets",
            [
                "TidemarkBytes", "TidemarkCrypto", "TidemarkDomain", "TidemarkFairness", "TidemarkFields",
                "TidemarkScheduling", "TidemarkService", "TidemarkSockets", "CTidemarkEpoll",
            ]),
        target(
            "TidemarkSessions",
            [
                "TidemarkFields", "TidemarkDomain", "TidemarkService", "TidemarkTranslation",
                "TidemarkWire", "TidemarkScheduling", "TidemarkFairness", "TidemarkTelemetry", deque,
            ]),
        target(
            "TidemarkServer",
            [
                "TidemarkAssets", "TidemarkBytes", "TidemarkCrypto", "TidemarkDomain", "TidemarkService",
                "TidemarkSessions",
                "TidemarkSockets", "TidemarkStore", "TidemarkTransport", "TidemarkTLS", "TidemarkHTTP",
                "TidemarkPostgres", "TidemarkWebSocket", "TidemarkScheduling", "TidemarkTelemetry", "TidemarkTracing",
                "TidemarkWire",
            ]),

        // For apps.
        target(
            "TidemarkKit",
            [
                "TidemarkBytes", "TidemarkFields", "TidemarkCrypto", "TidemarkScheduling", "TidemarkTelemetry",
                "TidemarkSockets", "TidemarkTLS", "TidemarkWebSocket", "TidemarkTransport",
                "TidemarkWire", deque,
            ],
            settings: kitSettings),
        target("CloudKit", ["TidemarkKit"]),
        target("CoreLocation", ["TidemarkKit"]),
        target(
            "TidemarkTestKit",
            [
                "TidemarkBytes", "TidemarkCrypto", "TidemarkFields", "TidemarkDomain", "TidemarkKit",
                "TidemarkScheduling", "TidemarkService", "TidemarkSessions", "TidemarkFairness", "TidemarkTranslation",
                "TidemarkWire", deque,
            ]),

        // Programs.
        // The commands of operators, for `tidemark admin` and for servers that carry them out.
        target(
            "TidemarkAdmin",
            [
                "TidemarkServer", "TidemarkStore", "TidemarkService", "TidemarkPostgres", "TidemarkDomain",
                "TidemarkSockets", "TidemarkScheduling", "TidemarkBytes", "TidemarkAssets", "TidemarkCrypto",
                "TidemarkFairness", "TidemarkFields", "TidemarkKit", "TidemarkLocalPostgres", "TidemarkTelemetry",
                "TidemarkTracing", "TidemarkTranslation", "TidemarkTLS", "TidemarkTransport", "TidemarkWebSocket",
                "TidemarkWire", "CTidemarkZlib", arguments, yams,
            ]),
        executable(
            "tidemark",
            [
                "TidemarkAdmin", "TidemarkServer", "TidemarkStore", "TidemarkService", "TidemarkPostgres",
                "TidemarkHTTP", "TidemarkLocalPostgres", "TidemarkDomain", "TidemarkSockets", "TidemarkTelemetry",
                "TidemarkBytes", "TidemarkCrypto", "TidemarkTLS", "TidemarkTracing", "TidemarkTransport",
                "CTidemarkEdit", arguments,
            ]),
        // Apps, which import what every app can: OpenSSL's digests and SQLite are from the system.
        .systemLibrary(name: "CFolderSyncDigest", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        executable("foldersync", ["CloudKit", "CFolderSyncDigest", arguments]),
        .systemLibrary(name: "CSharedListsSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        executable("sharedlists", ["CloudKit", "CSharedListsSQLite", arguments]),
        executable("cursors", ["CloudKit", arguments]),
        executable(
            "tidemark-echo",
            [
                "TidemarkHTTP", "TidemarkSockets", "TidemarkTLS",
                "TidemarkTransport", "TidemarkWebSocket", arguments,
            ]),
        executable(
            "tidemark-bench",
            [
                "TidemarkBytes", "TidemarkCrypto", "TidemarkKit", "TidemarkLocalPostgres", "TidemarkPostgres",
                "TidemarkServer", "TidemarkService", "TidemarkFairness", "TidemarkSockets", "TidemarkStore",
                "TidemarkTransport", "TidemarkTLS", "TidemarkWebSocket", "TidemarkWire", "TidemarkFields",
                "TidemarkDomain", "TidemarkTranslation", arguments,
            ]),
        executable("tidemark-wire-generator", ["TidemarkBytes"]),
        .executableTarget(
            name: "tidemark-yardstick", dependencies: ["CTidemarkOpenSSL", "CTidemarkLibpq"],
            linkerSettings: ["ssl", "crypto", "pq"].map { .linkedLibrary($0) }),
        executable(
            "tidemark-fuzz",
            [
                "TidemarkBytes", "TidemarkDomain", "TidemarkFields", "TidemarkHTTP", "TidemarkWire",
                "TidemarkTranslation", "TidemarkWebSocket",
            ], exclude: ["run"]),

        // Tests: one target for each of the above, and those that need all of it.
        .target(name: "CTidemarkTestSettings", path: "Tests/CTidemarkTestSettings"),
        .target(
            name: "TidemarkTestSupport",
            dependencies: [
                "CTidemarkOpenSSL", "CTidemarkTestSettings",
                "TidemarkDomain", "TidemarkHTTP", "TidemarkLocalPostgres",
                "TidemarkPostgres", "TidemarkScheduling", "TidemarkSockets", "TidemarkTLS", "TidemarkWebSocket", deque,
                heap,
            ],
            path: "Tests/TidemarkTestSupport", swiftSettings: settings),
        tests("TidemarkBytesTests", ["TidemarkBytes", "TidemarkTestSupport"]),
        tests("TidemarkSchedulingTests", ["TidemarkScheduling", "TidemarkSockets"]),
        tests("TidemarkTelemetryTests", ["TidemarkTelemetry", "TidemarkTestSupport", metrics]),
        tests("TidemarkFairnessTests", ["TidemarkFairness", "TidemarkTestSupport"]),
        tests("TidemarkFieldsTests", ["TidemarkFields", "TidemarkBytes", "TidemarkTestSupport"]),
        tests("TidemarkCryptoTests", ["TidemarkCrypto", "TidemarkBytes", "TidemarkTestSupport"]),
        tests(
            "TidemarkSocketsTests",
            ["TidemarkSockets", "TidemarkScheduling", "TidemarkTelemetry", "TidemarkTestSupport"]),
        .executableTarget(
            name: "ExitHost", dependencies: ["TidemarkCrypto", "TidemarkTLS"], path: "Tests/ExitHost",
            swiftSettings: settings),
        tests("TidemarkTLSTests", ["TidemarkTLS", "CTidemarkOpenSSL", "ExitHost", "TidemarkTestSupport"]),
        tests("TidemarkHTTPTests", ["TidemarkHTTP"]),
        tests("TidemarkWebSocketTests", ["TidemarkWebSocket", "TidemarkHTTP", "TidemarkTestSupport"]),
        tests(
            "TidemarkTransportTests",
            [
                "TidemarkTransport", "TidemarkSockets", "TidemarkTLS", "TidemarkWebSocket", "TidemarkHTTP",
                "TidemarkScheduling", "TidemarkTelemetry", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkTracingTests",
            [
                "TidemarkTracing", "TidemarkTelemetry", "TidemarkSockets", "TidemarkHTTP", "TidemarkTransport",
                "TidemarkTestSupport", tracing,
            ]),
        .executableTarget(
            name: "LocalPostgresHost", dependencies: ["TidemarkLocalPostgres"], path: "Tests/LocalPostgresHost",
            swiftSettings: settings),
        tests(
            "TidemarkPostgresTests",
            [
                "TidemarkPostgres", "TidemarkScheduling", "TidemarkSockets", "TidemarkLocalPostgres",
                "TidemarkTelemetry", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkLocalPostgresTests",
            ["TidemarkLocalPostgres", "TidemarkPostgres", "LocalPostgresHost", "TidemarkTestSupport"]),
        tests("TidemarkDomainTests", ["TidemarkDomain", "TidemarkFields", "TidemarkTestSupport"]),
        tests("WireGeneratorTests", ["tidemark-wire-generator", "TidemarkBytes"]),
        // The messages as swift-protobuf makes them, with which the tests compare ours.
        .target(name: "WireJudge", dependencies: [protobuf], path: "Tests/WireJudge", swiftSettings: settings),
        tests("TidemarkWireTests", ["TidemarkWire", "TidemarkBytes", "WireJudge", protobuf, "TidemarkTestSupport"]),
        tests(
            "TidemarkTranslationTests",
            [
                "TidemarkTranslation", "TidemarkDomain", "TidemarkWire", "TidemarkFields", "TidemarkBytes",
                "TidemarkTestSupport",
            ]),
        // What every `Storage` must do.
        .target(
            name: "StorageConformance",
            dependencies: [
                "TidemarkCrypto", "TidemarkDomain", "TidemarkFairness", "TidemarkFields", "TidemarkScheduling",
                "TidemarkService",
            ],
            path: "Tests/StorageConformance", swiftSettings: settings),
        tests(
            "TidemarkStoreTests",
            [
                "StorageConformance",
                "TidemarkStore", "TidemarkService", "TidemarkDomain", "TidemarkFields", "TidemarkPostgres",
                "TidemarkSockets", "TidemarkScheduling", "TidemarkFairness", "TidemarkTestKit", "TidemarkBytes",
                "TidemarkCrypto", "CTidemarkLibpq", "TidemarkLocalPostgres", "TidemarkTelemetry", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkServiceTests",
            [
                "StorageConformance", "TidemarkFairness",
                "TidemarkService", "TidemarkDomain", "TidemarkFields", "TidemarkScheduling", "TidemarkTestKit",
                "TidemarkCrypto", "TidemarkTelemetry", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkAssetsTests",
            [
                "TidemarkAssets", "TidemarkService", "TidemarkFairness", "TidemarkDomain", "TidemarkFields",
                "TidemarkCrypto", "TidemarkTestSupport",
            ]),
        // Sessions on a store in memory, and their clients.
        .target(
            name: "SessionTestSupport",
            dependencies: [
                "TidemarkBytes", "TidemarkDomain", "TidemarkFields", "TidemarkService", "TidemarkSessions",
                "TidemarkTestKit", "TidemarkTestSupport", "TidemarkWire",
            ],
            path: "Tests/SessionTestSupport", swiftSettings: settings),
        tests(
            "TidemarkSessionsTests",
            [
                "SessionTestSupport",
                "TidemarkSessions", "TidemarkService", "TidemarkTranslation", "TidemarkDomain", "TidemarkFields",
                "TidemarkWire", "TidemarkScheduling", "TidemarkFairness", "TidemarkTelemetry", "TidemarkCrypto",
                "TidemarkBytes", "TidemarkTestKit", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkServerTests",
            [
                "SessionTestSupport",
                "TidemarkServer", "TidemarkService", "TidemarkStore", "TidemarkTransport",
                "TidemarkWire", "TidemarkTranslation", "TidemarkDomain", "TidemarkFields", "TidemarkLocalPostgres",
                "TidemarkSockets", "TidemarkScheduling", "TidemarkTLS", "TidemarkWebSocket", "TidemarkBytes",
                "TidemarkPostgres", "TidemarkTelemetry", "TidemarkTestSupport", "TidemarkCrypto", "TidemarkHTTP",
                "CTidemarkOpenSSL",
            ]),
        .executableTarget(
            name: "JournalHost", dependencies: ["TidemarkKit"], path: "Tests/JournalHost", swiftSettings: settings),
        tests(
            "TidemarkKitTests",
            [
                "StorageConformance",
                "TidemarkKit", "CloudKit", "CoreLocation", "JournalHost", "TidemarkTestKit", "TidemarkWire",
                "TidemarkFields",
                "TidemarkBytes",
                "TidemarkCrypto", "TidemarkScheduling", "TidemarkSockets", "TidemarkDomain", "TidemarkTranslation",
                "TidemarkTelemetry", "TidemarkTestSupport",
            ]),
        // An app's code of before Swift 6, in the language mode of that time.
        .target(
            name: "SwiftFiveClient", dependencies: ["CloudKit"], path: "Tests/ClientPrograms/SwiftFive",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        tests("CloudKitAPITests", ["CloudKit", "SwiftFiveClient"]),
        tests(
            "SimulationTests",
            [
                "TidemarkTestKit", "TidemarkKit", "TidemarkService", "TidemarkSessions", "TidemarkDomain",
                "TidemarkFields", "TidemarkScheduling", "TidemarkFairness", "TidemarkBytes", "TidemarkWire",
                "TidemarkCrypto", "TidemarkTestSupport",
            ]),
        tests(
            "TidemarkTestKitTests",
            ["TidemarkTestKit", "CloudKit", "TidemarkDomain", "TidemarkScheduling", "TidemarkTestSupport"]),
        // Apps as others write them: nothing but CloudKit and Foundation, and no settings of ours.
        .executableTarget(name: "ContactsProgram", dependencies: ["CloudKit"], path: "Tests/ClientPrograms/Contacts"),
        .systemLibrary(
            name: "CSQLite", path: "Tests/ClientPrograms/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "NotesProgram", dependencies: ["CloudKit", "CSQLite"], path: "Tests/ClientPrograms/Notes"),
        tests(
            "EndToEndTests",
            [
                "TidemarkKit", "CloudKit", "TidemarkLocalPostgres", "TidemarkServer", "TidemarkStore",
                "TidemarkDomain", "TidemarkHTTP", "TidemarkTransport", "TidemarkWebSocket", "TidemarkWire",
                "TidemarkTLS",
                "TidemarkPostgres", "TidemarkSockets", "TidemarkScheduling", "TidemarkBytes", "TidemarkFields",
                "TidemarkService", "TidemarkTestKit", "TidemarkAdmin", "tidemark", "tidemark-echo", "foldersync",
                "ContactsProgram",
                "NotesProgram", "sharedlists", "cursors", "TidemarkCrypto", "TidemarkTestSupport", "SessionTestSupport",
                arguments,
            ], exclude: ["Commands/Golden"]),
        tests(
            "TidemarkAdminTests",
            [
                "TidemarkAdmin", "TidemarkStore", "TidemarkDomain", "TidemarkFields", "TidemarkSockets",
                "TidemarkBytes", "TidemarkCrypto", "TidemarkPostgres", "TidemarkServer", "TidemarkService",
                "TidemarkTLS", "TidemarkTelemetry", "TidemarkTestSupport", "TidemarkWire",
                arguments,
            ]),
        tests("TidemarkFuzzTests", ["tidemark-fuzz"]),
        tests("TidyTests", []),
    ]
)
