import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api, settle } from '../hand'
import { launch } from '../program'

const APPS = 1_000
/** How many are created at a time. */
const AT_ONCE = 10

/** Starts the program with a thousand applications and a week behind it. */
export default async function start(): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-smooth-'))
  const settings = [`admin.database=${join(home, 'tollgate.db')}`, 'node.id=smooth']
  const first = await launch(settings)
  const password = process.env['PASSWORD']
  await new Promise((resume) => setTimeout(resume, 3_000))
  await first()
  process.stdout.write(execFileSync('python3', [fileURLToPath(new URL('week.py', import.meta.url)), join(home, 'tollgate.db')]).toString())
  const stop = await launch(settings)
  process.env['PASSWORD'] = password
  await settle()
  const ask = await api()
  for (let from = 0; from < APPS; from += AT_ONCE) {
    const made = Array.from({ length: AT_ONCE }, (_, n) => {
      const app = { app_id: `tenant-${String(from + n).padStart(4, '0')}`, cluster: 'cluster-01', guaranteed_quota: 10, burst_quota: 100, priority: n % 4 }
      return ask('POST', '/api/v1/apps', app)
    })
    for (const answer of await Promise.all(made)) if (!answer.ok) throw new Error(await answer.text())
  }
  return async () => {
    await stop()
    rmSync(home, { recursive: true })
  }
}
