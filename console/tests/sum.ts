import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter'

/** Ends with a line as cargo has it, so that all tests can be added up. */
export default class Sum implements Reporter {
  private readonly results = new Map<string, boolean>()

  onTestEnd(test: TestCase, result: TestResult): void {
    if (result.status !== 'skipped') this.results.set(test.id, test.ok())
  }

  onEnd(result: FullResult): void {
    const passed = [...this.results.values()].filter(Boolean).length
    const failed = this.results.size - passed
    process.stdout.write(`test result: ${result.status === 'passed' ? 'ok' : 'FAILED'}. ${passed} passed; ${failed} failed\n`)
  }
}
