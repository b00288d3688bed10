// SPDX-License-Identifier: Apache-2.0

/// Where a value of a setting is from.
enum SettingOrigin: Sendable, Equatable {
    case flag
    case variable
    /// With the line of the file.
    case file(String, FilePlace)
    case standard
}

/// A setting that has a value.
struct FoundSetting: Sendable, Equatable {
    let text: String
    let origin: SettingOrigin
}

/// Where settings come from, beside the flags: variables win over the file.
struct SettingSources: Sendable {
    let variables: [String: String]
    let file: SettingsFile?

    /// Nil: it is set nowhere. An empty variable counts as absent.
    ///
    /// - Parameter option: the flag's value.
    /// - Throws: ``AdminFailure``, which names where a wrong value is.
    func find(_ option: String?, _ setting: ServeSetting) throws(AdminFailure) -> FoundSetting? {
        guard let found = found(option, setting) else { return nil }
        if let problem = setting.problem(with: found.text) { throw failure(problem, found.origin, setting) }
        return found
    }

    /// What is set, right or wrong.
    func found(_ option: String?, _ setting: ServeSetting) -> FoundSetting? {
        if let option { return FoundSetting(text: option, origin: .flag) }
        if let text = variables[setting.variable], !text.isEmpty { return FoundSetting(text: text, origin: .variable) }
        guard let file, let value = file.values[setting.key] else { return nil }
        return FoundSetting(text: value.text, origin: .file(file.path, value.place))
    }

    /// - Parameter range: nil: the bounds are those of the list alone.
    func number(
        _ option: Int?, _ setting: ServeSetting, default standard: Int, in range: ClosedRange<Int>? = nil
    ) throws(AdminFailure) -> Int {
        guard let found = try find(option.map { "\($0)" }, setting), let number = Int(found.text) else {
            return standard
        }
        if let range, !range.contains(number) {
            throw failure(ServeSetting.outside(range, number), found.origin, setting)
        }
        return number
    }

    func flag(_ option: Bool, _ setting: ServeSetting) throws(AdminFailure) -> Bool {
        try find(option ? "true" : nil, setting).flatMap { ServeSetting.truth(of: $0.text) } ?? false
    }

    private func failure(_ problem: String, _ origin: SettingOrigin, _ setting: ServeSetting) -> AdminFailure {
        switch origin {
        case .flag, .standard: AdminFailure(.usage, "\(setting.flag) \(problem).")
        case .variable: AdminFailure(.usage, "\(setting.variable) \(problem).")
        case .file(let path, let place):
            AdminFailure(.usage, SettingsProblem(place: place, text: "\(setting.key) \(problem).").line(of: path))
        }
    }
}
