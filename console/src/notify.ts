import 'element-plus/es/components/message/style/css'
import { ElMessage } from 'element-plus'
import { saying } from './load'

/** Says that something worked. */
export function done(text: string): void {
  ElMessage({ type: 'success', message: text, grouping: true })
}

/** Does something that somebody asked for, and says so if it fails; whether it worked. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (caught) {
    ElMessage({ type: 'error', message: saying(caught), grouping: true, duration: 6_000 })
    return false
  }
}
