// SPDX-License-Identifier: Apache-2.0

@main
enum Program {
    static func main() {}
}
