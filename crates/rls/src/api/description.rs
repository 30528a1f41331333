//! What reflection tells about the service, for tools that know nothing of it beforehand.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto, ServiceDescriptorProto,
};

const RESPONSE: &str = ".envoy.service.ratelimit.v3.RateLimitResponse";

/// The files that describe the service.
pub fn description() -> FileDescriptorSet {
    let header = message("HeaderValue", vec![text("key", 1), text("value", 2)]);
    let base = file("envoy/config/core/v3/base.proto", "envoy.config.core.v3", vec![header]);
    let ratelimit = file(
        "envoy/extensions/common/ratelimit/v3/ratelimit.proto",
        "envoy.extensions.common.ratelimit.v3",
        vec![descriptor()],
    );
    let mut service = file(
        "envoy/service/ratelimit/v3/rls.proto",
        "envoy.service.ratelimit.v3",
        vec![request(), response()],
    );
    service.dependency = vec![
        base.name().to_owned(),
        ratelimit.name().to_owned(),
        "google/protobuf/duration.proto".into(),
        "google/protobuf/struct.proto".into(),
    ];
    service.service = vec![ServiceDescriptorProto {
        name: Some("RateLimitService".into()),
        method: vec![MethodDescriptorProto {
            name: Some("ShouldRateLimit".into()),
            input_type: Some(".envoy.service.ratelimit.v3.RateLimitRequest".into()),
            output_type: Some(RESPONSE.into()),
            ..Default::default()
        }],
        ..Default::default()
    }];
    FileDescriptorSet {
        file: vec![wrappers(), durations(), structs(), base, with_wrappers(ratelimit), service],
    }
}

fn with_wrappers(mut file: FileDescriptorProto) -> FileDescriptorProto {
    file.dependency = vec!["google/protobuf/wrappers.proto".into()];
    file
}

fn request() -> DescriptorProto {
    let descriptor = ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor";
    let fields = vec![text("domain", 1), many(of("descriptors", 2, descriptor)), number("hits_addend", 3)];
    message("RateLimitRequest", fields)
}

fn descriptor() -> DescriptorProto {
    let own = ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry";
    let fields = vec![
        many(of("entries", 1, own)),
        of("hits_addend", 3, ".google.protobuf.UInt64Value"),
        field("is_negative_hits", 4, Type::Bool),
    ];
    let entry = message("Entry", vec![text("key", 1), text("value", 2)]);
    DescriptorProto { nested_type: vec![entry], ..message("RateLimitDescriptor", fields) }
}

fn response() -> DescriptorProto {
    let header = ".envoy.config.core.v3.HeaderValue";
    let fields = vec![
        choice("overall_code", 1, &format!("{RESPONSE}.Code")),
        many(of("statuses", 2, &format!("{RESPONSE}.DescriptorStatus"))),
        many(of("response_headers_to_add", 3, header)),
        many(of("request_headers_to_add", 4, header)),
        field("raw_body", 5, Type::Bytes),
        of("dynamic_metadata", 6, ".google.protobuf.Struct"),
    ];
    let limit = DescriptorProto {
        enum_type: vec![values(
            "Unit",
            &["UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"],
        )],
        ..message(
            "RateLimit",
            vec![
                number("requests_per_unit", 1),
                choice("unit", 2, &format!("{RESPONSE}.RateLimit.Unit")),
                text("name", 3),
            ],
        )
    };
    let status = message(
        "DescriptorStatus",
        vec![
            choice("code", 1, &format!("{RESPONSE}.Code")),
            of("current_limit", 2, &format!("{RESPONSE}.RateLimit")),
            number("limit_remaining", 3),
            of("duration_until_reset", 4, ".google.protobuf.Duration"),
        ],
    );
    DescriptorProto {
        nested_type: vec![limit, status],
        enum_type: vec![values("Code", &["UNKNOWN", "OK", "OVER_LIMIT"])],
        ..message("RateLimitResponse", fields)
    }
}

fn wrappers() -> FileDescriptorProto {
    let value = message("UInt64Value", vec![field("value", 1, Type::Uint64)]);
    file("google/protobuf/wrappers.proto", "google.protobuf", vec![value])
}

fn durations() -> FileDescriptorProto {
    let fields = vec![field("seconds", 1, Type::Int64), field("nanos", 2, Type::Int32)];
    file("google/protobuf/duration.proto", "google.protobuf", vec![message("Duration", fields)])
}

/// A tree of values by name, as far as it is used: texts, numbers, flags and trees.
fn structs() -> FileDescriptorProto {
    let value = ".google.protobuf.Value";
    let mut entry = message("FieldsEntry", vec![text("key", 1), of("value", 2, value)]);
    entry.options = Some(prost_types::MessageOptions { map_entry: Some(true), ..Default::default() });
    let tree = DescriptorProto {
        nested_type: vec![entry],
        ..message("Struct", vec![many(of("fields", 1, ".google.protobuf.Struct.FieldsEntry"))])
    };
    let kind = |mut field: FieldDescriptorProto| {
        field.oneof_index = Some(0);
        field
    };
    let kinds = vec![
        kind(choice("null_value", 1, ".google.protobuf.NullValue")),
        kind(field("number_value", 2, Type::Double)),
        kind(text("string_value", 3)),
        kind(field("bool_value", 4, Type::Bool)),
        kind(of("struct_value", 5, ".google.protobuf.Struct")),
        kind(of("list_value", 6, ".google.protobuf.ListValue")),
    ];
    let only_one = prost_types::OneofDescriptorProto { name: Some("kind".into()), options: None };
    let value_type = DescriptorProto { oneof_decl: vec![only_one], ..message("Value", kinds) };
    let list = message("ListValue", vec![many(of("values", 1, value))]);
    let mut file = file("google/protobuf/struct.proto", "google.protobuf", vec![tree, value_type, list]);
    file.enum_type = vec![values("NullValue", &["NULL_VALUE"])];
    file
}

fn file(name: &str, package: &str, messages: Vec<DescriptorProto>) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.into()),
        package: Some(package.into()),
        message_type: messages,
        syntax: Some("proto3".into()),
        ..Default::default()
    }
}

fn message(name: &str, fields: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field: fields, ..Default::default() }
}

fn values(name: &str, names: &[&str]) -> EnumDescriptorProto {
    let value = |(number, name): (i32, &&str)| EnumValueDescriptorProto {
        name: Some((*name).into()),
        number: Some(number),
        options: None,
    };
    let value = (0..).zip(names).map(value).collect();
    EnumDescriptorProto { name: Some(name.into()), value, ..Default::default() }
}

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        ..Default::default()
    }
}

fn text(name: &str, number: i32) -> FieldDescriptorProto {
    field(name, number, Type::String)
}

fn number(name: &str, number: i32) -> FieldDescriptorProto {
    field(name, number, Type::Uint32)
}

fn of(name: &str, number: i32, message: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(message.into()), ..field(name, number, Type::Message) }
}

fn choice(name: &str, number: i32, values: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(values.into()), ..field(name, number, Type::Enum) }
}

fn many(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated.into()), ..field }
}
