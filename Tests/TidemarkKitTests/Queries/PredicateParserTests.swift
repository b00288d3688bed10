// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct PredicateParserTests {
    static let zoneID = CKRecordZone.ID(zoneName: "world")
    static let iceland = CKRecord.ID(recordName: "IS", zoneID: zoneID)
    static let here = CLLocation(latitude: 64.1, longitude: -21.9)
    static let day = Date(timeIntervalSince1970: 1.5)

    /// The format, its arguments, and what it is understood as.
    static var formats: [(format: String, arguments: [Any], text: String)] {
        [
            ("TRUEPREDICATE", [], "TRUEPREDICATE"), ("falsepredicate", [], "FALSEPREDICATE"),
            ("name = 'x'", [], "name == 'x'"), ("name == \"it's\"", [], "name == 'it\\'s'"),
            ("name=='a\\n\\t\\u0041\\\\'", [], "name == 'a\n\tA\\\\'"), ("name <> ''", [], "name != ''"),
            ("'x' != name", [], "name != 'x'"), ("name ==[c] %@", ["x"], "name == 'x'"),
            ("count < 5", [], "count < 5"), ("count <= -5", [], "count <= -5"), ("count =< 0x1F", [], "count <= 31"),
            ("5 < count", [], "count > 5"), ("5 >= count", [], "count <= 5"), ("count => 1.5e3", [], "count >= 1500.0"),
            ("count > %d AND count < %ld", [1, 2], "count > 1 AND count < 2"),
            ("price == %f", [Float(0.5)], "price == 0.5"),
            ("price == %f", [2], "price == 2.0"), ("count == %lu", [UInt(7)], "count == 7"),
            ("count == %i", [2.7], "count == 2"),
            ("flag == YES", [], "flag == 1"), ("flag == false", [], "flag == 0"), ("flag == %@", [true], "flag == 1"),
            ("flag == %@", [NSNumber(value: false)], "flag == 0"), ("price == %@", [1.0], "price == 1.0"),
            ("count == %@", [Int64.min], "count == -9223372036854775808"),
            ("%K == %@", ["name", "x"], "name == 'x'"),
            ("%K == %@", [NSString(string: "name"), NSString(string: "x")], "name == 'x'"),
            ("day > %@", [day], "day > CAST(1.5, 'NSDate')"),
            ("day > %@", [day as NSDate], "day > CAST(1.5, 'NSDate')"),
            ("day > %@", [day as any CVarArg], "day > CAST(1.5, 'NSDate')"), ("day < now", [], "day < now()"),
            ("day < NOW()", [], "day < now()"),
            ("count BETWEEN {1, 10}", [], "count BETWEEN {1, 10}"),
            ("count between %@", [[1, 10]], "count BETWEEN {1, 10}"),
            ("count BETWEEN {%d, %d}", [1, 2], "count BETWEEN {1, 2}"),
            ("name BEGINSWITH 'La'", [], "name BEGINSWITH 'La'"), ("name beginswith %@", [""], "name BEGINSWITH ''"),
            ("name IN {'a', \"b\"}", [], "name IN {'a', 'b'}"), ("name IN {}", [], "name IN {}"),
            ("name IN %@", [["a", "b"]], "name IN {'a', 'b'}"),
            ("name IN %@", [NSArray(array: ["a"])], "name IN {'a'}"),
            ("name IN %@", [["a"] as any CVarArg], "name IN {'a'}"), ("count IN %@", [Set([1])], "count IN {1}"),
            ("count IN %@", [NSSet(array: [1])], "count IN {1}"), ("{1, 2} CONTAINS count", [], "count IN {1, 2}"),
            ("tags CONTAINS 'x'", [], "tags CONTAINS 'x'"), ("'x' IN tags", [], "tags CONTAINS 'x'"),
            ("%@ IN tags", ["x"], "tags CONTAINS 'x'"), ("ANY tags = 'x'", [], "tags CONTAINS 'x'"),
            ("ANY tags CONTAINS 'x'", [], "tags CONTAINS 'x'"), ("some tags in {'x'}", [], "ANY tags IN {'x'}"),
            ("ANY tags IN %@", [["x", "y"]], "ANY tags IN {'x', 'y'}"),
            ("name == nil", [], "name == nil"), ("name != NULL", [], "name != nil"), ("NIL == name", [], "name == nil"),
            ("name == %@", [NSNull()], "name == nil"),
            ("country == %@", [iceland], "country == <world/IS>"),
            ("country == %@", [CKRecord.Reference(recordID: iceland, action: .deleteSelf)], "country == <world/IS>"),
            ("recordID == %@", [CKRecord(recordType: "C", recordID: iceland)], "recordID == <world/IS>"),
            ("recordID IN %@", [[iceland]], "recordID IN {<world/IS>}"),
            (
                "distanceToLocation:fromLocation:(location, %@) < 1000", [here],
                "distanceToLocation:fromLocation:(location, <64.1, -21.9>) < 1000.0"
            ),
            (
                "%f >= distancetolocation:fromlocation:(%@, %K)", [0.5, here, "location"],
                "distanceToLocation:fromLocation:(location, <64.1, -21.9>) <= 0.5"
            ),
            ("self CONTAINS 'a b'", [], "self CONTAINS 'a b'"), ("SELF contains[cd] %@", ["x"], "self CONTAINS 'x'"),
            ("allTokens TOKENMATCHES[cdl] %@", ["x"], "self CONTAINS 'x'"),
            ("a = 1 && b = 2 and c = 3", [], "a == 1 AND b == 2 AND c == 3"),
            ("(a = 1 AND b = 2) AND c = 3", [], "(a == 1 AND b == 2) AND c == 3"), ("((a = 1))", [], "a == 1"),
            ("NOT a = 1", [], "NOT a == 1"), ("!(a = 1)", [], "NOT a == 1"), ("NOT NOT a = 1", [], "NOT (NOT a == 1)"),
            ("NOT (tags CONTAINS 'x') AND b = 2", [], "(NOT tags CONTAINS 'x') AND b == 2"),
            ("order = 1", [], "order == 1"), ("Android = 1", [], "Android == 1"), ("inside = 1", [], "inside == 1"),
            ("any IN {1}", [], "any IN {1}"), ("none == 1", [], "none == 1"), ("ANY any = 1", [], "any CONTAINS 1"),
            ("#self == 1 AND #now == 2", [], "self == 1 AND now == 2"), ("%K == 1", ["self"], "self == 1"),
            ("a = '\u{301}'", [], "a == '\u{301}'"), ("  a\n=\t1 ", [], "a == 1"),
        ]
    }

    @Test func `R-177, R-185: what formats mean`() {
        for (format, arguments, text) in Self.formats {
            let predicate = NSPredicate(format: format, argumentArray: arguments)
            #expect((try? PredicateNode(predicate).text) == text, "\(format): \(predicate)")
        }
    }

    /// The format, its arguments, the column and a word of the text.
    static var mistakes: [(format: String, arguments: [Any], column: Int, words: String)] {
        [
            ("", [], 1, "a key or a value"), ("name", [], 5, "operator"), ("name ==", [], 8, "a key or a value"),
            ("name == 'x", [], 9, "no end"), ("name == 'x\\", [], 9, "no end"),
            ("name == 'x' name", [], 13, "should end here"),
            ("a = 1 OR b = 2", [], 7, "OR is not offered"), ("a = 1 || b = 2", [], 7, "OR is not offered"),
            ("(a = 1 OR b = 2)", [], 8, "OR is not offered"), ("(a = 1", [], 7, "')' is expected"),
            ("a = 1)", [], 6, "should end here"), ("ALL tags = 'x'", [], 1, "ALL and NONE"),
            ("NONE tags = 'x'", [], 1, "ALL and NONE"),
            ("name LIKE 'x*'", [], 6, "'LIKE' is not an operator"), ("name MATCHES 'x'", [], 6, "'MATCHES'"),
            ("name ENDSWITH 'x'", [], 6, "'ENDSWITH'"), ("name BEGINSWITH[c] 'x'", [], 17, "case-sensitive"),
            ("name ==[cd] 'x'", [], 9, "not to accents"), ("name BEGINSWITH 5", [], 6, "followed by a string"),
            ("count BETWEEN 5", [], 7, "list of two"), ("count BETWEEN {1,2,3}", [], 7, "list of two"),
            ("count IN 5", [], 7, "list of values"), ("tags CONTAINS {1}", [], 6, "ANY … IN"),
            ("ANY tags BEGINSWITH 'x'", [], 10, "without ANY"), ("ANY tags > 1", [], 10, "ANY goes with"),
            ("1 = 1", [], 3, "Two values"), ("a = b", [], 3, "one value"), ("a = {1}", [], 3, "one value"),
            ("self = 'x'", [], 6, "CONTAINS only"), ("self CONTAINS 5", [], 6, "string of words"),
            ("name TOKENMATCHES 'x'", [], 6, "self or allTokens"), ("name == $x", [], 9, "variables"),
            ("name == ?", [], 9, "'?' has no meaning"), ("name == %", [], 9, "% is followed by"),
            ("name == %s", [], 9, "% is followed by"),
            ("name == %@", [], 9, "no argument"), ("name == 'x'", [1], 12, "more arguments"),
            ("%K = 1", [5], 1, "%K is a string"),
            ("a = %d", ["x"], 5, "is a number"), ("a = %d", [1e300], 5, "is a number"), ("a.b = 1", [], 1, "paths"),
            ("sum(a) = 1", [], 1, "function 'sum'"), ("@count = 1", [], 1, "not a field's name"),
            ("a = 99999999999999999999", [], 5, "64 bits"), ("a = 1x", [], 5, "64 bits"),
            ("a = %@", [Data()], 5, "cannot be compared"), ("a = %@", [UUID()], 5, "cannot be compared"),
            ("a = %@", [UInt64.max], 5, "Int64"), ("a IN %@", [[Data()]], 6, "cannot be compared"),
            ("place = %@", [here], 7, "distanceToLocation"),
            ("distanceToLocation:fromLocation:(a, 'x') < 5", [], 1, "a CLLocation"),
            ("distanceToLocation:fromLocation:(a, %@) > 5", [here], 41, "< or <="),
            ("distanceToLocation:fromLocation:(a, %@) < 'x'", [here], 41, "radius in metres"),
            ("a IN {1, b}", [], 10, "a list holds values"), ("a IN {1 2}", [], 9, "',' is expected"),
            ("a == '\\u12'", [], 8, "four hexadecimal digits"), ("5 BETWEEN a", [], 3, "comes first"),
            (String(repeating: "(", count: 100) + "a = 1", [], 65, "nested too deep"),
            (String(repeating: "!", count: 100_000) + "a = 1", [], 65, "nested too deep"),
        ]
    }

    @Test func `R-184: a mistake is pointed at, with what to write instead`() throws {
        for (format, arguments, column, words) in Self.mistakes {
            let query = CKQuery(recordType: "T", predicate: NSPredicate(format: format, argumentArray: arguments))
            let error = #expect(throws: CKError.self) { try query.wire(in: nil, now: Date()) }
            let text = error?.localizedDescription ?? ""
            #expect(error?.code == .invalidArguments)
            #expect(text.hasPrefix("Cannot use the predicate '\(format)' at column \(column): "), "\(text.suffix(200))")
            #expect(text.contains(words), "\(text.suffix(200))")
        }
    }

    @Test func `R-185: compound predicates and constants`() throws {
        let parts = [NSPredicate(format: "a = %d", 1), NSPredicate(value: true)]
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        #expect(try PredicateNode(and).text == "a == 1 AND TRUEPREDICATE")
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: parts[0])
        #expect(try PredicateNode(not).text == "NOT a == 1")
        #expect(try PredicateNode(NSPredicate(value: false)) == .always(false))
        let or = NSCompoundPredicate(orPredicateWithSubpredicates: parts)
        #expect(throws: PredicateMistake("OR is not offered. Use IN, or several queries.")) {
            try PredicateNode(or)
        }
        #expect(throws: PredicateMistake.self) { try PredicateNode(NSPredicate(block: { _, _ in true })) }
        let broken = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "a =")])
        #expect(throws: PredicateMistake.self) { try PredicateNode(broken) }
    }

    @Test func `parsing never traps, whatever the format`() {
        var random = SeededRandom()
        print("seed \(random.seed)")
        let pieces = [
            "a", " ", "=", "<", "'", "\"", "(", ")", "{", "}", "%@", "%d", "%", "AND ", "NOT ", "IN ", "BETWEEN ",
            "ANY ", "5",
            "-", ".", "[", "]", "c", "\\", "self ", "CONTAINS ", ",", "é", "\u{0}", "distanceToLocation:fromLocation:",
        ]
        for _ in 0..<3_000 {
            let format = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let predicate = NSPredicate(format: format, argumentArray: ["x", 1, Self.here])
            if let node = try? PredicateNode(predicate) { #expect(!node.text.isEmpty) }
        }
    }
}
