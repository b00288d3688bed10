// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkKit

/// Files that cannot be opened, read or written, and whose fault that is.
@Suite struct FileFaultTests {
    @Test func `R-084: the error number says whose fault it is, and the text what to do`() {
        for (number, remedy) in [
            (EMFILE, "Too many files are open. Close some."), (ENFILE, "Too many files are open. Close some."),
            (ENOMEM, "too little memory"), (EAGAIN, "in use"), (EBUSY, "in use"), (EINTR, "in use"),
            (EIO, "fails. Check it."), (ESTALE, "fails. Check it."), (ETIMEDOUT, "fails. Check it."),
            (ENOSPC, "Make room."), (EDQUOT, "Make room."),
        ] {
            let error = FileFault(number: number).error("It cannot be read.", advice: "Mend it.")
            let text = error.localizedDescription
            #expect(error.code == .assetNotAvailable && error.keepsChangePending && error.isAboutAsset, "\(text)")
            #expect(text.hasPrefix("It cannot be read. ") && text.contains(remedy), "\(text)")
            #expect(text.hasSuffix("Then try again. A sync engine does so by itself."), "\(text)")
            #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(number))
        }
        for number in [EACCES, EPERM, EISDIR, ELOOP, ENAMETOOLONG, EINVAL, ENXIO] {
            let error = FileFault(number: number).error("It cannot be read.", advice: "Mend it.")
            #expect(error.code == .assetNotAvailable && !error.keepsChangePending)
            #expect(error.localizedDescription == "It cannot be read. Mend it.")
            #expect(!error.isServersLoss)
        }
    }

    /// While the process can open no more files.
    private static func withoutDescriptors<Value>(_ work: () async throws -> Value) async throws -> Value {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var before = rlimit()
        #expect(getrlimit(resource, &before) == 0)
        var none = before
        none.rlim_cur = 0
        #expect(setrlimit(resource, &none) == 0)
        defer { setrlimit(resource, &before) }
        return try await work()
    }

    /// In a process of its own, because a process has one limit.
    @Test func `R-084: a save without a descriptor left fails for now`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            defer { directory.remove() }
            let url = URL(fileURLWithPath: directory.path).appendingPathComponent("f")
            try Data([1, 2, 3]).write(to: url)
            let scheduler = ManualScheduler()
            let server = ScriptedServer(scheduler)
            let context = CloudContext(
                containerIdentifier: "iCloud.test.faults", token: "alice", transport: server, scheduler: scheduler)
            let cloud = try CKContainer(context: context).privateCloudDatabase.cloud
            let records = ["A/file", "A/other"].map { CKRecord(recordType: "T", recordID: recordID($0)) }
            records[0]["file"] = CKAsset(fileURL: url)
            records[1]["note"] = "x"
            func save() async throws -> [CKError?] {
                let results = try await cloud.modifyRecords(
                    saving: records, deleting: [recordID("A/gone")], policy: .ifServerRecordUnchanged, atomically: true)
                let saves = records.map { record -> CKError? in
                    if case .failure(let error)? = results.saves[record.recordID] { error } else { nil }
                }
                guard case .failure(let error)? = results.deletes[recordID("A/gone")] else { return saves + [nil] }
                return saves + [error]
            }
            // The thread for files cannot be started, and later the file cannot be opened.
            for what in ["The thread for files", "The file at \(url.path)"] {
                let errors = try await FileFaultTests.withoutDescriptors(save)
                let text = errors[0]?.localizedDescription ?? "nothing"
                #expect(text.hasPrefix("\(what) cannot be ") && text.contains("Too many files are open."), "\(text)")
                #expect(errors.map(\.?.code) == [.assetNotAvailable, .batchRequestFailed, .batchRequestFailed])
                #expect(errors[0]?.keepsChangePending == true)
                try await FileThread.run { () throws(CKError) in }
            }
            // What is the file's fault is told once, and the app corrects it.
            try FileManager.default.removeItem(at: url)
            let errors = try await save()
            #expect(errors.map(\.?.code) == [.assetFileNotFound, .batchRequestFailed, .batchRequestFailed])
            #expect(errors[0]?.keepsChangePending == false)
            #expect(server.envelopes.isEmpty)
        }
    }

    @Test func `R-084, R-518: an engine keeps a change whose file the device cannot read now, and tries it again`() {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(10))
        let error = FileFault(number: EMFILE).error("The file cannot be read.", advice: "")
        var times: [Duration] = []
        harness.respond = { request in
            guard request.isRecords else { return nil }
            times.append(harness.now)
            return .success(.recordResults(SyncEngineRecordResults(saves: [recordID("A/1"): .failure(error)])))
        }
        harness.add("A/1")
        harness.advance(by: .milliseconds(7_500))
        #expect(zip(times.dropFirst(), times).map { $0 - $1 } == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(harness.pending == ["A/1"])
        harness.respond = { _ in nil }
        harness.advance(by: .seconds(10))
        #expect(harness.pending == [] && harness.server.contents == ["A/1": "v"])
    }

    @Test func `R-084: bytes that the device cannot read back are no loss of the server's`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let bytes = [UInt8]("hello, tide".utf8)
        let asset = FieldAsset(sha256: ContentHash.of(bytes), byteCount: Int64(bytes.count))
        let file = try await AssetStaging(directory: URL(fileURLWithPath: directory.path)).open(asset)
        // It does not fit, so that the hash must prove the file.
        file.expect([UInt8](repeating: 0, count: Checksum.byteCount))
        try file.append(bytes)
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: directory.path).first)
        truncate("\(directory.path)/\(name)", 5)
        let error = await #expect(throws: CKError.self) { try await file.finish() }
        #expect(error?.code == .assetNotAvailable && error?.isServersLoss == false)
    }
}
