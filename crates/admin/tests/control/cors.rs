//! Pages of other origins: those that are named may use the API in a browser, and no others.

use crate::support::{Answer, World};

const NAMED: &str = "https://console.example.com";

async fn world(folder: &tempfile::TempDir, origins: &[&str]) -> World {
    let database = folder.path().join("admin.db");
    World::start_with(database.to_str().unwrap(), |settings| {
        settings.origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    })
    .await
}

/// Asks as a browser does before it sends what a page wants to send.
async fn may(world: &World, origin: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "PUT"),
        ("access-control-request-headers", "authorization,if-match"),
    ];
    world.call_with("OPTIONS", "/api/v1/apps/app-a", "", None, &headers).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_named_origin_may_use_the_api() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder, &[NAMED]).await;
    let asked = may(&world, NAMED).await.expect(204);
    assert_eq!(asked.header("access-control-allow-origin"), NAMED);
    assert_eq!(asked.header("access-control-allow-credentials"), "true");
    assert!(asked.header("access-control-allow-methods").contains("PUT"));
    for header in ["authorization", "content-type", "if-match"] {
        assert!(asked.header("access-control-allow-headers").contains(header), "{header}");
    }
    let token = world.admin().await;
    let origin = [("origin", NAMED)];
    let read = world.call_with("GET", "/api/v1/apps/app-a", &token, None, &origin).await.expect(200);
    assert_eq!(read.header("access-control-allow-origin"), NAMED);
    assert!(read.header("access-control-expose-headers").contains("ETag"));
    assert_eq!(read.header("vary"), "origin");
    let refused = world.call_with("GET", "/api/v1/apps", "", None, &origin).await.expect(401);
    assert_eq!(refused.header("access-control-allow-origin"), NAMED, "a page must be able to read why");
    let console = world.call_with("GET", "/", "", None, &origin).await.expect(200);
    assert_eq!(console.header("access-control-allow-origin"), "", "only the API is for others");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_any_other_origin_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let (some, none) = (tempfile::tempdir().unwrap(), folder);
    for world in [world(&some, &[NAMED]).await, world(&none, &[]).await] {
        let token = world.admin().await;
        for origin in ["https://evil.example", "https://console.example.com.evil.example", "null", ""] {
            let asked = may(&world, origin).await;
            let read = world.call_with("GET", "/api/v1/apps", &token, None, &[("origin", origin)]).await;
            for answer in [asked, read] {
                for header in ["access-control-allow-origin", "access-control-allow-credentials"] {
                    assert_eq!(answer.header(header), "", "{origin:?}: {}", answer.status);
                }
            }
        }
    }
}
