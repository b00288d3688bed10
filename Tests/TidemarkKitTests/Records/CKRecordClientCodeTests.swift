// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// Written as an app would write it, with one import: that it compiles is half of the test.
@Suite struct CKRecordClientCodeTests {
    private struct Note {
        var title: String
        var count: Int?
    }

    @Test func `R-064: fields are set and read in all the ways that apps use`() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
        let note = Note(title: "t", count: nil)
        record["text"] = "abc"
        record["title"] = note.title
        record["count"] = note.count
        record["number"] = 5
        record["words"] = ["x", "y"]
        record["nothing"] = nil
        record["flag"] = true
        record["ratio"] = 1.5
        record["when"] = Date(timeIntervalSince1970: 1)
        record["data"] = Data([1, 2])
        record["object"] = NSString(string: "o")
        record["boxed"] = NSNumber(value: 7)
        record["value"] = "v" as any CKRecordValue
        record["protocol"] = "p" as any CKRecordValueProtocol
        record["choice"] = note.count == nil ? "x" : "y"
        record["reference"] = CKRecord.Reference(recordID: record.recordID, action: .none)
        record["empty"] = [String]()
        record.setObject("s" as any CKRecordValue, forKey: "set")
        record.setValue(9, forKey: "kvc")

        let text = record["text"] as? String
        let typed: String? = record["text"]
        let cast = record["text"] as String?
        let fallback: String = record["none"] ?? "fallback"
        #expect(text == "abc" && typed == "abc" && cast == "abc" && fallback == "fallback")
        record["number"] = (record["number"] as? Int ?? 0) + 1
        #expect(record["number"] as? Int == 6)
        #expect(record["none"] == nil)
        #expect(record["text"] != nil)
        #expect(record.object(forKey: "set") as? String == "s")
        #expect(record.value(forKey: "kvc") as? Int == 9)
        switch record["text"] {
        case let text as String: #expect(text == "abc")
        default: Issue.record("not a string")
        }
        guard let words = record["words"] as? [String] else {
            Issue.record("not a list")
            return
        }
        #expect(words == ["x", "y"])
        func store<Value: CKRecordValueProtocol & Equatable>(_ value: Value) {
            record["generic"] = value
            let back: Value? = record["generic"]
            #expect(back == value)
        }
        store("x")
        store(5)
        store([1.5])
        store(Date(timeIntervalSince1970: 3))
        for (key, value) in ["k": "v"] as [String: any CKRecordValueProtocol] { record[key] = value }
        #expect(record["k"] as? String == "v")
    }

    @Test func `R-063, R-064: fields are set and read by key-value coding, several at once`() {
        let record = CKRecord(recordType: "Note")
        record["gone"] = "x"
        record.setValuesForKeys(["text": "a", "count": 2, "words": ["x", "y"], "gone": NSNull()])
        #expect(record.allKeys() == ["count", "text", "words"])
        #expect(record.changedKeys() == ["count", "gone", "text", "words"])
        let values = record.dictionaryWithValues(forKeys: ["text", "count", "words", "gone", "text"])
        #expect(values.count == 4 && values["text"] as? String == "a" && values["count"] as? Int == 2)
        #expect(values["words"] as? [String] == ["x", "y"] && values["gone"] is NSNull)
        #expect(record.value(forKeyPath: "count") as? Int == 2)
        record.setValue(CGFloat(1.5), forKey: "width")
        #expect(record["width"] as? Double == 1.5)
        record["width"] = nil
        #expect(record.value(forKeyPath: "gone") == nil && record.value(forKeyPath: "text.length") == nil)
        // What one record has, another gets.
        let copy = CKRecord(recordType: "Note")
        copy.setValuesForKeys(values)
        #expect(copy.allKeys() == record.allKeys() && copy.dictionaryWithValues(forKeys: []).isEmpty)
    }

    @Test func `R-064: values are compared as objects`() {
        let record = CKRecord(recordType: "Note")
        record["text"] = "a"
        record["count"] = 2
        record["flag"] = true
        record["data"] = Data([1, 2])
        record["words"] = ["x", "y"]
        record["when"] = Date(timeIntervalSince1970: 1)
        let other = CKRecord(recordType: "Note")
        for key in record.allKeys() { other[key] = record[key] }
        for key in record.allKeys() {
            #expect(record[key]?.isEqual(other[key]) == true, "\(key)")
            #expect(record[key]?.isEqual(nil) == false && record[key]?.isEqual("other") == false, "\(key)")
        }
        #expect(record["text"]?.isEqual("a" as NSString) == true && record["count"]?.isEqual(2) == true)
        #expect(record["count"]?.isEqual(NSNumber(value: 3)) == false && record["none"]?.isEqual(nil) == nil)
        #expect(record["words"]?.isEqual(["x"]) == false && record["when"]?.isEqual(UUID()) == false)
    }

    @Test func `R-064: values have the text of their objects`() throws {
        let record = CKRecord(recordType: "Note")
        record["text"] = "a"
        record["count"] = 2
        record.encryptedValues["secret"] = "s"
        #expect(record["text"]?.description == "a" && record["count"]?.description == "2")
        #expect(record.object(forKey: "text")?.description == "a" && record["none"]?.description == nil)
        #expect(record.encryptedValues["secret"]?.description == "s")
        let count = try #require(record.object(forKey: "count"))
        #expect("\(count)" == "2" && String(describing: count) == "2" && count.description == "2")
    }

    @Test func `R-067: encrypted values are set and read as plain ones are`() {
        let record = CKRecord(recordType: "Note")
        let values = record.encryptedValues
        record.encryptedValues["secret"] = "s"
        values["number"] = 4
        let secret = record.encryptedValues["secret"] as? String
        let typed: Int? = record.encryptedValues["number"]
        #expect(secret == "s" && typed == 4)
        record.encryptedValues["secret"] = nil
        #expect(values["secret"] == nil)
    }

    @Test func `R-056: a loop over a record gives its keys and values`() {
        let record = CKRecord(recordType: "Note")
        record["b"] = 2
        record["a"] = "x"
        record.encryptedValues["c"] = 3
        var seen: [String] = []
        for (key, value) in record { seen.append("\(key)=\(value)") }
        #expect(seen == ["a=x", "b=2"])
    }

    @Test func `R-370: errors are caught in all the ways that apps use`() {
        func fail() throws { throw CKError(.zoneNotFound) }
        do {
            try fail()
            Issue.record("no error")
        } catch CKError.zoneNotFound {
        } catch {
            Issue.record("not caught: \(error)")
        }
        do {
            try fail()
        } catch let error as CKError where error.code == .zoneNotFound {
        } catch {
            Issue.record("not caught: \(error)")
        }
        do {
            try fail()
        } catch {
            #expect((error as NSError).domain == CKErrorDomain)
            #expect((error as NSError).code == 26)
            switch (error as? CKError)?.code {
            case .zoneNotFound?: break
            default: Issue.record("not zoneNotFound")
            }
        }
    }
}
