use crate::support::client::{request, send};
use crate::support::{Server, route_to, start};
use tollgate_gateway::gate::BodySize;

/// Method, path, header fields and body; application and operation.
type Case<'a> = (&'a str, &'a str, &'a [(&'static str, &'a str)], &'static [u8], Option<&'a str>, &'a str);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gate_is_told_whose_request_it_is_and_what_it_does() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&format!(
        "[identity]\norder = ['api_key', 's3', 'header', 'path']\n\
         api_keys = [{{secret = 'key-of-app-k', app = 'app-k'}}]\naccess_keys = {{AKIA1 = 'app-s'}}\n\
         paths = {{'/video' = 'app-v'}}\n{}",
        route_to(&[server.address], "").replace("upstream = 'u'", "upstream = 'u'\noperations = 's3'")
    ));
    let v4 = "AWS4-HMAC-SHA256 Credential=AKIA1/20240101/eu/s3/aws4_request, SignedHeaders=host, Signature=f";
    let table: [Case<'_>; 6] = [
        ("GET", "/bucket/key", &[("x-tollgate-app", "app-a")], b"", Some("app-a"), "GET"),
        ("GET", "/bucket?list-type=2", &[("x-api-key", "key-of-app-k")], b"", Some("app-k"), "LIST"),
        (
            "PUT",
            "/b/k?partNumber=1&uploadId=u",
            &[("authorization", v4)],
            b"12345",
            Some("app-s"),
            "MULTIPART_UPLOAD",
        ),
        ("PUT", "/b/k", &[("x-amz-copy-source", "/b/o")], b"", None, "COPY"),
        ("GET", "/video/x?X-Amz-Credential=AKIA1%2F2024", &[], b"", Some("app-s"), "GET"),
        ("POST", "/video/x?uploads", &[], b"", Some("app-v"), "MULTIPART_INIT"),
    ];
    for (method, path, fields, body, app, operation) in table {
        let mut asked = request(method, path, body);
        for (name, value) in fields {
            asked.headers_mut().insert(*name, value.parse().unwrap());
        }
        send(gateway.local_addr(), asked).await;
        let seen = gate.last();
        assert_eq!((seen.app.as_deref(), seen.operation.as_str()), (app, operation), "{method} {path}");
        assert_eq!(seen.body, BodySize::Known(body.len() as u64));
    }
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_some_server_takes_for_a_dearer_one_goes_nowhere() {
    let server = Server::http1().await;
    let route = "[[routes]]\npath = '/dear'\nupstream = 'u'\n";
    let identity = "[identity]\norder = ['path']\npaths = {'/' = 'cheap', '/video' = 'app-v'}\n";
    let (gateway, gate) = start(&format!("{route}{}{identity}", route_to(&[server.address], "")));
    for (path, whose) in [
        ("/dear;a=b/x", "route"),
        ("/;/dear/x", "route"),
        ("/dear%2fx", "route"),
        ("/video;x", "application"),
    ] {
        let answer = send(gateway.local_addr(), request("GET", path, b"")).await;
        let told = (answer.status.as_u16(), answer.header("x-tollgate-error"));
        assert_eq!(told, (400, Some("ambiguous_path")), "{path}");
        assert!(answer.text().contains(whose), "{answer:?}");
    }
    // Keys of objects are often like this, and pass as they are.
    let path = "/dear/a%2fb;c";
    let answer = send(gateway.local_addr(), request("GET", path, b"")).await;
    assert_eq!((answer.status.as_u16(), gate.last().app.as_deref()), (200, Some("cheap")));
    gate.balanced().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_is_told_by_the_method_alone() {
    let server = Server::http1().await;
    let (gateway, gate) = start(&route_to(&[server.address], ""));
    for (method, path, operation) in [
        ("GET", "/", "GET"),
        ("GET", "/b?uploads", "GET"),
        ("POST", "/b?delete", "POST"),
        ("OPTIONS", "/", "OTHER"),
        ("LIST", "/", "OTHER"),
    ] {
        send(gateway.local_addr(), request(method, path, b"")).await;
        assert_eq!(gate.last().operation, operation, "{method} {path}");
    }
    let mut raw = crate::support::raw::Raw::connect(gateway.local_addr()).await;
    raw.say("PUT /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n").await;
    raw.hear().await;
    assert_eq!(gate.last().body, BodySize::Unknown);
}
