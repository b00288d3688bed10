// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain

extension XrayPicture {
    /// Shows the picture as one screen: the reasons first, then what they come from.
    func show(at now: Timestamp, of account: String, on console: Console) async throws {
        if devices.isEmpty {
            console.say(
                "No device of \(account) has ever connected. To see sign-ins that were refused: tidemark admin audit "
                    + "list --failures")
        }
        let findings = findings(at: now)
        if console.output == .table {
            try await console.write(Self.text(of: findings))
        } else {
            try await console.show(findings, as: Self.findingColumns)
        }
        try await console.show(devices, as: Self.deviceColumns(at: now))
        let places = devices.flatMap { device in device.places.map { XrayPlace(device: device, place: $0) } }
        if !places.isEmpty { try await console.show(places, as: Self.placeColumns) }
        let requests = devices.flatMap { device in
            (device.progress?.requests ?? []).reversed().map { XrayRequest(device: device, request: $0) }
        }
        if !requests.isEmpty { try await console.show(requests, as: Self.requestColumns) }
        if !self.account.uses.isEmpty { try await console.show(self.account.uses, as: Self.quotaColumns) }
        if !subscriptions.isEmpty { try await console.show(subscriptions, as: Self.subscriptionColumns) }
    }

    /// The reasons for people. A table of them would be far wider than a terminal.
    static func text(of findings: [XrayFinding]) -> String {
        findings.map { found in
            let (device, finding) = (found.device, found.finding)
            let who = device.map { "\($0.mark)  \($0.name)" } ?? "all devices"
            return "\(who.inOneLine)  \(finding.code.rawValue)\n"
                + "    \(finding.sentence.inOneLine)\n    \(finding.remedy.inOneLine)\n"
        }
        .joined() + (findings.isEmpty ? "" : "\n")
    }

    private static let findingColumns: [Column<XrayFinding>] = [
        Column("KIND", key: "kind", wide: true) { _ in .text("finding") },
        Column("DEVICE", key: "device") { .text($0.device?.mark ?? "all") },
        Column("NAME", key: "name") { .optional($0.device?.name) },
        Column("FINDING", key: "code") { .text($0.finding.code.rawValue) },
        Column("WHY", key: "sentence") { .text($0.finding.sentence) },
        Column("WHAT TO DO", key: "remedy") { .text($0.finding.remedy) },
    ]

    private static func deviceColumns(at now: Timestamp) -> [Column<DeviceFacts>] {
        [
            Column("KIND", key: "kind", wide: true) { _ in .text("device") },
            Column("DEVICE", key: "device", isName: true) { .text($0.mark) },
            Column("ID", key: "id", wide: true) { .text(Hex.encode($0.device.bytes)) },
            Column("NAME", key: "name") { .text($0.name) },
            Column("CONNECTED", key: "connected") { .flag($0.isConnected(at: now)) },
            Column("SERVER", key: "server") { .optional($0.progress?.link?.server) },
            Column("SINCE", key: "connectedSince") { .optional($0.progress?.link?.since) },
            Column("ENDED", key: "connectionEnded", wide: true) { .optional($0.progress?.link?.endedAt) },
            Column("LAST SEEN", key: "lastSeen") { .date($0.lastConnectedAt) },
            Column("BEHIND BY", key: "behind") { .number(Int($0.missing)) },
            Column("BEHIND SINCE", key: "behindSince") { .optional($0.behindSince) },
            Column("WAITS UNTIL", key: "throttledUntil") { device in
                .optional(device.progress?.throttle.flatMap { $0.until > now ? $0.until : nil })
            },
            Column("LIMIT", key: "limit", wide: true) { .optional($0.progress?.throttle?.limit) },
            Column("PUSH SENT", key: "pushSent", wide: true) { .optional($0.progress?.push?.sentAt) },
            Column("PUSH HEARD", key: "pushHeard", wide: true) { .optional($0.progress?.push?.heardAt) },
            Column("PUSHES MISSED", key: "pushesMissed", wide: true) {
                .optional($0.progress?.push.map { Int($0.missedCount) })
            },
            Column("PENDING", key: "pending") { .optional($0.progress?.pending?.count) },
            Column("PENDING AT", key: "pendingAt", wide: true) { .optional($0.progress?.pending?.at) },
            Column("WAITS FOR", key: "waitsFor", wide: true) {
                .optional($0.progress?.pending.map { String(describing: $0.wait) })
            },
            Column("LAST ERROR", key: "lastError", wide: true) { device in
                .optional(device.progress?.pending.flatMap { $0.lastError == 0 ? nil : Int($0.lastError) })
            },
            Column("NOTED", key: "noted") { .optional($0.notedAt) },
        ]
    }

    private static let placeColumns: [Column<XrayPlace>] = [
        Column("KIND", key: "kind", wide: true) { _ in .text("feed") },
        Column("DEVICE", key: "device") { .text($0.device.mark) },
        Column("CONTAINER", key: "container") { .text($0.place.container.identifier) },
        Column("ENVIRONMENT", key: "environment", wide: true) { .text($0.place.container.environment.name) },
        Column("DATABASE", key: "database") { .text($0.place.scope.word) },
        Column("ZONE", key: "zone") { .optional($0.place.zone) },
        Column("HEAD", key: "head") { .optional($0.place.head.map { Int($0) }) },
        Column("READ", key: "read") { .number(Int($0.place.progress.told)) },
        Column("READ AT", key: "readAt") { .date($0.place.progress.toldAt) },
        Column("ASKED FROM", key: "asked", wide: true) { .optional($0.place.progress.asked.map { Int($0) }) },
        Column("OWN", key: "own") { .number(Int($0.place.progress.own)) },
        Column("BEHIND BY", key: "behind") { place in
            place.place.zone == nil ? .none : .number(Int(place.place.missing))
        },
        Column("BEHIND SINCE", key: "behindSince") { place in
            place.place.missing > 0 ? .optional(place.place.behindSince) : .none
        },
    ]

    private static let requestColumns: [Column<XrayRequest>] = [
        Column("KIND", key: "kind", wide: true) { _ in .text("request") },
        Column("DEVICE", key: "device") { .text($0.device.mark) },
        Column("ENDED", key: "ended") { .date($0.request.at) },
        Column("REQUEST", key: "request") { .text($0.request.kind) },
        Column("RESULT", key: "result") { .text($0.request.result) },
        Column("MILLISECONDS", key: "milliseconds") { .decimal(Double($0.request.microseconds) / 1_000) },
        Column("UUID", key: "uuid") { .text($0.request.mark.text) },
    ]

    private static let quotaColumns: [Column<StorageUse>] = [
        Column("KIND", key: "kind", wide: true) { _ in .text("quota") },
        Column("QUOTA OF", key: "of") { .text($0.isOfAccount ? "account" : "database") },
        Column("USED BYTES", key: "usedBytes") { .number(Int($0.byteCount)) },
        Column("QUOTA BYTES", key: "quotaBytes") { .number(Int($0.bytesMax)) },
    ]

    private static let subscriptionColumns: [Column<Subscribed>] = [
        Column("KIND", key: "kind", wide: true) { _ in .text("subscription") },
        Column("CONTAINER", key: "container") { .text($0.container.identifier) },
        Column("ENVIRONMENT", key: "environment", wide: true) { .text($0.container.environment.name) },
        Column("DATABASE", key: "database") { .text($0.subscription.scope.word) },
        Column("SUBSCRIPTION", key: "subscription") { .text($0.subscription.id) },
        Column("TELLS OF", key: "tellsOf") { .text($0.subscription.kind.word) },
        Column("ZONE", key: "zone") { .optional($0.subscription.zoneName) },
        Column("RECORD TYPE", key: "recordType") { .optional($0.subscription.recordType) },
    ]
}

extension DeviceFacts {
    /// Enough of the device's bits to tell it from the account's others.
    fileprivate var mark: String { String(Hex.encode(device.bytes).prefix(8)) }
}

extension RequestSummary {
    fileprivate var result: String { code == 0 ? "ok" : reason.map { "\($0)" } ?? "code \(code)" }
}

extension RequestBits {
    /// As UUIDs are written, in capitals.
    fileprivate var text: String {
        let digits = Hex.encode(DeviceID(high: high, low: low).bytes).uppercased()
        var (groups, rest) = ([Substring](), digits[...])
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}
