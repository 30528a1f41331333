import base from './playwright.config'

// A trace of each test would be measured along.
export default { ...base, testDir: 'tests/smooth', globalSetup: './tests/smooth/start.ts', use: { ...base.use, trace: 'off' as const } }
