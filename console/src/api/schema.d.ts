// Made from the description of the API by scripts/types.mjs. Not to be edited.

export interface paths {
    "/api/v1/alert-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the rules. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those that raise alerts, or do not. */
                    enabled?: boolean;
                    /** @description Only those whose alerts are as bad as this. */
                    severity?: "info" | "warning" | "critical";
                    /** @description What to sort by. */
                    sort?: "id" | "severity" | "for_s";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of rules */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Rule"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a rule. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the rule */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Rule"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Changes a rule. With `If-Match` it must be as the caller has seen it. */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RuleInput"];
                };
            };
            responses: {
                /** @description the rule */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Rule"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists alerts, the latest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description Only those in this state. */
                    state?: "open" | "acknowledged" | "resolved" | "all";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of alerts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Alert"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Notes that the caller has seen an alert. Whoever saw it first stays. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the alert */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Alert"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Closes an alert. It is raised anew if what it is about goes on. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the alert */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Alert"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists applications, those too that are scheduled to be added. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this cluster. */
                    cluster?: string;
                    /** @description Only those of this priority. */
                    priority?: number;
                    /** @description Only those that may pass, or may not. */
                    enabled?: boolean;
                    /** @description Only those in shadow mode, or not. */
                    shadow?: boolean;
                    /** @description Only those that are doing like this. */
                    status?: "normal" | "warning" | "critical";
                    /** @description What to sort by. */
                    sort?: "app_id" | "guaranteed_quota" | "burst_quota" | "priority" | "tokens" | "debt" | "requests" | "refused" | "version";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of applications */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_App"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Adds an application. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewApp"];
                };
            };
            responses: {
                /** @description it was added */
                201: {
                    headers: {
                        ETag?: string;
                        Location?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["App"];
                    };
                };
                /** @description it will be added when its time has come */
                202: {
                    headers: {
                        Location?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows an application. One that is scheduled to be added is shown as it will be. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the application */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["App"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /**
         * Sets an application, whether it is there or not. With `If-Match` it must be as the caller has seen it; with
         *     `If-None-Match: *` it must not be there.
         */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                    "If-None-Match"?: string | null;
                };
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AppInput"];
                };
            };
            responses: {
                /** @description it was changed */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["App"];
                    };
                };
                /** @description it was added */
                201: {
                    headers: {
                        ETag?: string;
                        Location?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["App"];
                    };
                };
                /** @description it will be added when its time has come */
                202: {
                    headers: {
                        Location?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        /** Removes an application and what is scheduled for it. Its leases are void. One that is not there is as good as removed. */
        delete: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it is not there any more */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/borrow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Borrows tokens into the bucket of an application, also where it does not borrow by itself. Each call borrows anew. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoanInput"];
                };
            };
            responses: {
                /** @description it was borrowed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Lent"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it is not lent: the end of `type` says why, `available` how much would be */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/repay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pays back debt of an application from its bucket. The interest goes back to the cluster too. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoanInput"];
                };
            };
            responses: {
                /** @description what could be was paid back */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Repaid"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts an application's bucket over, debt and burst allowance included. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it starts over */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/what-if": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plays recorded demand under a policy that is tried, and under those of today. Nothing is changed. It is the demand of this
         *     node and of those whose history is in the same database; `demand` says of how many that is.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["WhatIf"];
                };
            };
            responses: {
                /** @description what would have been */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WhatIfAnswer"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what was done, the latest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description Only what they did. */
                    actor?: string;
                    /** @description Only this, like `app.update`, or all about it, like `app`. */
                    action?: string;
                    /** @description Only what was done to it. */
                    target?: string;
                    /** @description Not before, in milliseconds since 1970. */
                    from?: number;
                    /** @description Not after. */
                    until?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of entries */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_AuditEntry"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the clusters. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those in emergency mode, or not. */
                    emergency?: boolean;
                    /** @description What to sort by. */
                    sort?: "cluster_id" | "capacity" | "promised" | "usage" | "apps";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of clusters */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Cluster"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a cluster. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    cluster_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the cluster */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Cluster"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Changes what a cluster can stand. With `If-Match` it must be as the caller has seen it. */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    cluster_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ClusterInput"];
                };
            };
            responses: {
                /** @description it was changed */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Cluster"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Accounts for every token of a cluster, to the millionth. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    cluster_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description where every token is */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Balance"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clusters/{cluster_id}/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compares what is out with what the leases add up to, and corrects what drifted too far. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    cluster_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description what was corrected */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Reconciled"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Exports all policies, as `tollgate apply` and an import read them. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description all policies */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Export"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets many applications, and what clusters can stand, at once. If one of them is wrong, none is set. What is scheduled for an
         *     application that is named is taken back, and told.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            responses: {
                /** @description what changed, or would */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Imported"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the versions, by time; `search` looks at their reasons. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those that they made. */
                    author?: string;
                    /** @description Only those of this kind, like `rollback`. */
                    kind?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of versions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Version"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/versions/{from}/diff/{to}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares two versions. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    from: number;
                    to: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description what changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Differences"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a version, and how many nodes apply it. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    version: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the version */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["VersionDetail"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/versions/{version}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Puts everything back to what was in force at a version, all of it or nothing. What did not change since stays; what was
         *     scheduled since is taken back (`unscheduled`). What was scheduled at that version stays scheduled if nothing has touched the
         *     application since; if something has, before its time, it is not scheduled again (`not_restored`): schedule it anew if it is
         *     wanted. Where a cluster changed since, this needs the role that changing one does.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    version: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Rollback"];
                };
            };
            responses: {
                /** @description it is as it was */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RolledBack"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the open connections of this node. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description Only those of this application. */
                    app_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of connections */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Connection"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts the connections of all nodes. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description as the nodes last told */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConnectionStats"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/{app_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Changes how many connections an application may have. A change that is scheduled for it stays scheduled: with these limits
         *     if it left them as they were, and with its own if it did not.
         */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ConnectionLimits"];
                };
            };
            responses: {
                /** @description they are in force */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AppConnections"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections/{app_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what last happened to the connections of an application: at most a thousand events; `search` looks at their kinds. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this node. */
                    node?: string;
                    /** @description What to sort by. */
                    sort?: "timestamp" | "kind" | "count";
                };
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_ConnectionEvent"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells what the first page of a console shows. */
        get: {
            parameters: {
                query?: {
                    /** @description How far back to look. */
                    range?: "5m" | "1h" | "6h" | "24h" | "7d";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the first page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DashboardData"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the last decisions of this node: refusals, and a sample of what passed. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those of this application. */
                    app_id?: string;
                    /** @description Only those that went like this. */
                    verdict?: "allowed" | "refused" | "shadowed";
                    /** @description Only those for this reason. */
                    reason?: string;
                    /** @description The most to list. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the latest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Decisions"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/decisions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explains a decision by its name, which the response to the request had. If this node has no record of it, the nodes that
         *     share its ledger are asked, for a second or so.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the decision, whichever node made it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Decision"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/emergency": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells whether there is an emergency, and what one does. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description cluster by cluster */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EmergencyStatus"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/emergency/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Declares an emergency, or gives it a new end. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ActivateEmergency"];
                };
            };
            responses: {
                /** @description it is in force */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EmergencyStatus"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/emergency/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends an emergency, if there is one. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeactivateEmergency"];
                };
            };
            responses: {
                /** @description there is none */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EmergencyStatus"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/emergency/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the emergencies there were, by time; `search` looks at their reasons. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this cluster. */
                    cluster_id?: string;
                    /** @description Only those that were started like this. */
                    cause?: "operator" | "usage";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of emergencies */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_PastEmergency"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Logs in. The refresh token comes as a cookie that only this API sees. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Login"];
                };
            };
            responses: {
                /** @description a session was opened */
                200: {
                    headers: {
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionOpened"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Logs out: the session is over, whatever of it is still out. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the session is over */
                204: {
                    headers: {
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells who is calling. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the caller */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Me"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Changes the caller's password. Every session but this one is over. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPassword"];
                };
            };
            responses: {
                /** @description the password was changed */
                200: {
                    headers: {
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionOpened"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells how everything stands and went. */
        get: {
            parameters: {
                query?: {
                    /** @description How far back to look. */
                    range?: "5m" | "1h" | "6h" | "24h" | "7d";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description everything */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Metrics"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/apps/{app_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells how an application stands and went. */
        get: {
            parameters: {
                query?: {
                    /** @description How far back to look. */
                    range?: "5m" | "1h" | "6h" | "24h" | "7d";
                };
                header?: never;
                path: {
                    app_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the application */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AppMetrics"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells how connections stand and went. */
        get: {
            parameters: {
                query?: {
                    /** @description How far back to look. */
                    range?: "5m" | "1h" | "6h" | "24h" | "7d";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description connections of this node */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConnectionMetrics"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the nodes: this one, and those that share a ledger or its database. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this cluster. */
                    cluster?: string;
                    /** @description What to sort by. */
                    sort?: "node" | "requests" | "refused" | "held" | "connections";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of the nodes that are known here */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Nodes"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on with a session: takes the refresh token of the cookie, and gives another. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the session goes on */
                200: {
                    headers: {
                        "Set-Cookie"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionOpened"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tokens of machines. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this role. */
                    role?: "viewer" | "operator" | "admin";
                    /** @description Only those that they made. */
                    created_by?: string;
                    /** @description What to sort by. */
                    sort?: "created_at" | "name" | "expires_at" | "last_used_at";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of tokens */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Token"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Makes a token for a machine. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
            responses: {
                /** @description it was made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokenWithSecret"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a token. One that is not there is as good as revoked. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it is good no longer */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the accounts. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those of this role. */
                    role?: "viewer" | "operator" | "admin";
                    /** @description Only those that can be used, or cannot. */
                    enabled?: boolean;
                    /** @description What to sort by. */
                    sort?: "username" | "role" | "created_at" | "last_login_at";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of accounts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_User"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Adds an account. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewUser"];
                };
            };
            responses: {
                /** @description it was added */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserWithPassword"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{username}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows an account. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    username: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description the account */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Changes what an account may do. Its sessions are over. With `If-Match` it must be as the caller has seen it. */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    username: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["UserInput"];
                };
            };
            responses: {
                /** @description it was changed */
                200: {
                    headers: {
                        ETag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        /**
         * Removes an account, and revokes the tokens that it made. One that is not there is as good as removed. With `If-Match` it
         *     must be as the caller has seen it.
         */
        delete: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path: {
                    username: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it is not there any more */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{username}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives an account a random password, told this once. Its sessions are over. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    username: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it has another password */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserWithPassword"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{username}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends all sessions of an account. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    username: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it has no sessions */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the places that alerts are sent to; `search` looks at their addresses. */
        get: {
            parameters: {
                query?: {
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description The most entries of a page. */
                    limit?: number;
                    /** @description A part of the name, or of what stands for one; capitals do not matter. */
                    search?: string;
                    /** @description Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else. */
                    descending?: boolean;
                    /** @description Only those that anything is sent to, or nothing. */
                    enabled?: boolean;
                    /** @description What to sort by. */
                    sort?: "created_at" | "url";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a page of places */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listed_Webhook"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Adds a place that alerts are sent to. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            responses: {
                /** @description it was added */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookWithSecret"];
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is too large */
                413: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the body is not JSON */
                415: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes a place. One that is not there is as good as removed. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description nothing is sent there any more */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description there is no such thing */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Opens the WebSocket. Events come as `{"type", "data", "timestamp"}`; see the description of the API. */
        get: {
            parameters: {
                query?: {
                    /** @description The ticket, which is good once. */
                    ticket?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description events follow */
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                /** @description the request is not valid */
                400: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description not a WebSocket */
                426: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ws/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives a ticket for the WebSocket. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description a ticket that is good once */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ticket"];
                    };
                };
                /** @description who is calling is not known */
                401: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the caller may not do this */
                403: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description something else is in the way */
                409: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it has changed meanwhile */
                412: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description the ledger or the database is out of reach */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tells that the process lives. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it lives */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Alive"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tells whether the node can do its work, and if not, why. A node without its ledger decides by itself: it is ready, and
         *     says so.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description it can do its work */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ready"];
                    };
                };
                /** @description too many requests */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/problem+json": components["schemas"]["Problem"];
                    };
                };
                /** @description it cannot */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ready"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An emergency to declare. */
        ActivateEmergency: {
            /** @description Where; may be left out where there is only one cluster. */
            cluster_id?: string | null;
            /** @description Why. */
            reason: string;
            /**
             * Format: int64
             * @description For how long, in seconds.
             * @default 300
             */
            duration: number | null;
        };
        /** @description What happened in one second. */
        Activity: {
            /**
             * Format: int64
             * @description Requests that passed.
             */
            requests: number;
            /**
             * Format: int64
             * @description What they cost, in tokens.
             */
            cost: number;
            /**
             * Format: int64
             * @description Requests that were refused.
             */
            refused: number;
            /**
             * Format: int64
             * @description Requests that would have been refused, but for shadow mode.
             */
            shadowed: number;
        };
        /** @description Something that is, or was, not as it should be. */
        Alert: {
            /** @description Its name. */
            id: string;
            /** @description The rule that raised it. */
            rule: string;
            /** @description What it is about: an application, a cluster or a node. */
            subject: string;
            /** @description `info`, `warning` or `critical`. */
            severity: string;
            /** @description What is the matter. */
            message: string;
            /**
             * Format: double
             * @description The number that the rule looked at, as of last.
             */
            value: number;
            /**
             * Format: int64
             * @description When it was raised, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: int64
             * @description When it was last seen.
             */
            last_seen: number;
            /** @description Whether somebody has seen it. */
            acknowledged: boolean;
            /**
             * Format: int64
             * @description When.
             */
            acknowledged_at?: number | null;
            /** @description Who. */
            acknowledged_by?: string | null;
            /**
             * Format: int64
             * @description When it was over, if it is.
             */
            resolved_at?: number | null;
            /** @description The node that sees it, and says when it is over. */
            node: string;
        };
        /** @description That the process lives. */
        Alive: {
            /** @description Always `ok`. */
            status: string;
            /** @description The version of the program. */
            version: string;
            /** @description The name of the node. */
            node: string;
        };
        /** @description An application: what it was promised, what it has, and what it does. */
        App: components["schemas"]["PolicyDocument"] & {
            /**
             * Format: int64
             * @description The version of its policy, which is also its entity tag; 0 if it is only scheduled to be added.
             */
            version: number;
            /**
             * @description How it is doing: `critical` if more than half of its requests of the last minutes were refused, `warning` if some
             *     were, if it is in debt, or if it is switched off.
             */
            status: components["schemas"]["Health"];
            /** @description What it has in the ledger. */
            state: components["schemas"]["AppState"];
            /** @description What it did in the last second, on this node. */
            activity: components["schemas"]["Activity"];
            pending?: components["schemas"]["Pending"] | null;
        };
        /** @description Connections of one application. */
        AppConnections: {
            /** @description Which application. */
            app_id: string;
            /**
             * Format: int32
             * @description How many it may have at any time.
             */
            max_connections: number;
            /**
             * Format: int32
             * @description How many while the cluster has room.
             */
            burst_connections: number;
            /** @description Over all nodes. */
            counts: components["schemas"]["ConnectionCounts"];
        };
        /** @description An application as it shall be. What is left out is as if nothing was said of it, not as it was. */
        AppInput: {
            /**
             * Format: int64
             * @description Tokens per second that it can always count on. All of a cluster's add up to at most 90 % of its capacity.
             */
            guaranteed_quota: number;
            /**
             * Format: int64
             * @description The most tokens that it may save; at least the guarantee.
             */
            burst_quota: number;
            /** @description The cluster it runs on; may be left out where there is only one, and cannot be changed. */
            cluster?: string | null;
            /**
             * Format: int64
             * @description How often the burst allowance starts anew, in seconds.
             * @default 60
             */
            burst_duration_s: number | null;
            /**
             * Format: int32
             * @description 0 matters most, 3 least.
             * @default 2
             */
            priority: number | null;
            /**
             * Format: int64
             * @description The most tokens that it may owe.
             * @default 10000
             */
            max_borrow: number | null;
            /**
             * @description Whether it borrows by itself when nothing else is left.
             * @default true
             */
            borrow: boolean | null;
            /**
             * Format: double
             * @description The share of its refill that goes into paying back, with at most 4 decimals.
             * @default 0.5
             */
            repay_share: number | null;
            /**
             * @description Whether it may pass at all.
             * @default true
             */
            enabled: boolean | null;
            /**
             * @description Whether decisions are made and counted, but not enforced.
             * @default false
             */
            shadow: boolean | null;
            /**
             * @description Whether the bytes of responses are charged too.
             * @default false
             */
            charge_response: boolean | null;
            outage?: components["schemas"]["OutageMode"] | null;
            /**
             * Format: int64
             * @description Tokens per second and node that pass then.
             */
            fail_open_tokens?: number | null;
            /**
             * Format: double
             * @description Or the share of what the node had that passes then, with at most 4 decimals.
             */
            fallback_ratio?: number | null;
            /**
             * Format: int64
             * @description Connections at any time.
             * @default 1000
             */
            max_connections: number | null;
            /**
             * Format: int64
             * @description Connections while the cluster has room; at least as many.
             */
            burst_connections?: number | null;
            cost?: components["schemas"]["CostDocument"] | null;
            /** @description Why it is changed, for those who read it later. */
            reason?: string | null;
            /**
             * Format: int64
             * @description When it shall take effect, in milliseconds since 1970; at once if that has passed or is left out.
             */
            effective_time?: number | null;
            carry?: components["schemas"]["CarryInput"] | null;
        };
        /** @description How an application went, on this node. */
        AppMetrics: {
            /** @description Which application. */
            app_id: string;
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: int32
             * @description Seconds of a point.
             */
            step: number;
            /** @description What happened in the last second. */
            now: components["schemas"]["Activity"];
            /** @description Its points, the earliest first. */
            points: components["schemas"]["AppPoint"][];
            /** @description Refusals since the node started, by reason. */
            refused_by_reason: {
                [key: string]: number;
            };
        };
        /** @description What happened to an application in one step. */
        AppPoint: {
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: double
             * @description Requests that passed, per second.
             */
            requests: number;
            /**
             * Format: double
             * @description What they cost, in tokens per second.
             */
            cost: number;
            /**
             * Format: double
             * @description Requests that were refused, per second.
             */
            refused: number;
            /**
             * Format: double
             * @description What they would have cost, in tokens per second.
             */
            refused_cost: number;
            /**
             * Format: double
             * @description In its bucket, in tokens.
             */
            tokens: number;
            /**
             * Format: double
             * @description Held by this node.
             */
            held: number;
            /**
             * Format: double
             * @description Its connections on this node.
             */
            connections: number;
        };
        /** @description What an application has, in tokens. */
        AppState: {
            /**
             * Format: int64
             * @description In its bucket.
             */
            tokens: number;
            /**
             * Format: int64
             * @description Out on lease to nodes.
             */
            leased: number;
            /**
             * Format: int64
             * @description Held by this node.
             */
            held: number;
            /**
             * Format: int64
             * @description What is left of its burst allowance.
             */
            burst_remaining: number;
            /**
             * Format: int64
             * @description What it has borrowed.
             */
            borrowed: number;
            /**
             * Format: int64
             * @description What it owes, interest included.
             */
            debt: number;
            /**
             * Format: int64
             * @description What it has spent in all.
             */
            total_consumed: number;
            /**
             * Format: int64
             * @description Its requests in all.
             */
            total_requests: number;
            /** @description The same by operation. */
            by_operation: {
                [key: string]: components["schemas"]["OperationUse"];
            };
            /**
             * Format: int64
             * @description Its connections on this node.
             */
            connections: number;
        };
        /** @description How many nodes apply a version. */
        Applied: {
            /**
             * Format: int64
             * @description Nodes that are known to apply it.
             */
            nodes: number;
            /**
             * Format: int64
             * @description Nodes that the ledger hears of.
             */
            of: number;
            /** @description Their names. */
            names: string[];
        };
        /** @description Something that somebody did. */
        AuditEntry: {
            /** @description Its name; later ones sort behind earlier ones. */
            id: string;
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description Who. */
            actor: string;
            /** @description `user`, `token` or `system`. */
            actor_kind: string;
            /** @description From where. */
            ip: string;
            /** @description What, like `app.update`. */
            action: string;
            /** @description To what. */
            target: string;
            /** @description What it was before. */
            before?: Record<string, never> | null;
            /** @description What it is after. */
            after?: Record<string, never> | null;
        };
        /** @description Where every token of a cluster is. Amounts are exact, to the millionth of a token: rounded ones do not add up. */
        Balance: {
            /** @description Whether everything is accounted for. */
            balances: boolean;
            /**
             * Format: double
             * @description Headroom for anybody.
             */
            slack: number;
            /**
             * Format: double
             * @description All private headroom.
             */
            meters: number;
            /**
             * Format: double
             * @description The most that both together may be.
             */
            depth: number;
            /** @description One line for each application. */
            apps: components["schemas"]["BalanceLine"][];
        };
        /**
         * @description Where every token of an application is: what came (`opened`, `minted`, `drawn`, `loaned`, `adopted`, `overrun`) is what is
         *     there (`rights`, `outstanding`) and what went (`spent`, `lost`, `repaid`, `expired`, `suspected`, `dropped`).
         */
        BalanceLine: {
            /** @description Which application. */
            app_id: string;
            /** @description Whether everything is accounted for. */
            balances: boolean;
            /**
             * Format: double
             * @description What was there when the books were opened.
             */
            opened: number;
            /**
             * Format: double
             * @description What the guarantee minted.
             */
            minted: number;
            /**
             * Format: double
             * @description What was drawn from the burst allowance.
             */
            drawn: number;
            /**
             * Format: double
             * @description What was borrowed, and what reservations owed.
             */
            loaned: number;
            /**
             * Format: double
             * @description What nodes presented as held, and the ledger had lost.
             */
            adopted: number;
            /**
             * Format: double
             * @description What was spent without having been leased.
             */
            overrun: number;
            /**
             * Format: double
             * @description What is in its bucket.
             */
            rights: number;
            /**
             * Format: double
             * @description What is out on lease.
             */
            outstanding: number;
            /**
             * Format: double
             * @description What its leases add up to, node by node: as much as is out.
             */
            leased: number;
            /**
             * Format: double
             * @description What was spent.
             */
            spent: number;
            /**
             * Format: double
             * @description What did not fit under the burst.
             */
            lost: number;
            /**
             * Format: double
             * @description What went into paying back.
             */
            repaid: number;
            /**
             * Format: double
             * @description What was in leases that expired.
             */
            expired: number;
            /**
             * Format: double
             * @description What was set aside for what nodes that are cut off let through on their own.
             */
            suspected: number;
            /**
             * Format: double
             * @description What a change of policy, a reset or lost memory took away.
             */
            dropped: number;
            /**
             * Format: double
             * @description What it owes.
             */
            debt: number;
        };
        /**
         * @description What happens to the tokens in a bucket when its quota changes.
         * @enum {string}
         */
        CarryInput: "keep" | "scale" | "reset";
        /** @description What changed about one application or cluster. */
        Change: {
            /** @description `app` or `cluster`. */
            kind: string;
            /** @description Which one. */
            id: string;
            /** @description The cluster that it is on, or is. */
            cluster: string;
            /**
             * Format: int64
             * @description The version of the ledger that has it.
             */
            ledger_version: number;
            /** @description What it was; null if it was not there. */
            before?: Record<string, never> | null;
            /** @description What it is; null if it is there no longer. */
            after?: Record<string, never> | null;
        };
        /** @description A cluster: what it can stand, and how it is doing. */
        Cluster: components["schemas"]["ClusterDocument"] & {
            /** @description Its name. */
            cluster_id: string;
            /**
             * Format: int64
             * @description The version of its policies.
             */
            version: number;
            /**
             * Format: int64
             * @description Another one whenever the ledger finds that it has lost something.
             */
            epoch: number;
            /**
             * Format: int64
             * @description What all guarantees add up to, in tokens per second.
             */
            promised: number;
            /**
             * Format: int64
             * @description The most that they may add up to.
             */
            promisable: number;
            /**
             * Format: int64
             * @description Headroom for anybody, in tokens.
             */
            available: number;
            /**
             * Format: double
             * @description The share of the capacity that was granted over the last second.
             */
            usage: number;
            /**
             * Format: double
             * @description How much overload cuts of allocations above the guarantee.
             */
            overload_cut: number;
            /** @description Whether it is in emergency mode. */
            emergency: boolean;
            /**
             * Format: int64
             * @description How many applications it has.
             */
            apps: number;
            /**
             * Format: int64
             * @description How many nodes are heard of.
             */
            nodes: number;
            /**
             * Format: int64
             * @description How many nodes fell silent and are still remembered.
             */
            silent_nodes: number;
        };
        /** @description What a cluster can stand. */
        ClusterDocument: {
            /**
             * Format: int64
             * @description Tokens per second, for all applications together.
             */
            capacity: number;
            /**
             * Format: double
             * @description The share that bursts and loans leave alone.
             */
            reserved_ratio: number;
            /**
             * Format: double
             * @description How much unused headroom may pile up, as a share of the capacity.
             */
            burst_ratio: number;
            /**
             * Format: double
             * @description The use at which emergency mode starts by itself.
             */
            emergency_threshold: number;
            /**
             * Format: int32
             * @description How many connections may be open at once, over all nodes.
             */
            max_connections: number;
        };
        /** @description Whether there is an emergency at a cluster, and what it does or would do. */
        ClusterEmergency: {
            /** @description Which cluster. */
            cluster_id: string;
            /** @description Whether it is in emergency mode. */
            active: boolean;
            cause?: components["schemas"]["EmergencyCause"] | null;
            /** @description Why, as an operator said. */
            reason: string;
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970.
             */
            since?: number | null;
            /**
             * Format: int64
             * @description Until when.
             */
            until?: number | null;
            /** @description What is left in force of the guarantees, by priority. */
            effects: components["schemas"]["EmergencyEffect"][];
        };
        /** @description A cluster as it shall be. What is left out stays as it is. */
        ClusterInput: {
            /**
             * Format: int64
             * @description Tokens per second, for all applications together.
             */
            capacity?: number | null;
            /**
             * Format: double
             * @description The share that bursts and loans leave alone.
             */
            reserved_ratio?: number | null;
            /**
             * Format: double
             * @description How much unused headroom may pile up, as a share of the capacity.
             */
            burst_ratio?: number | null;
            /**
             * Format: double
             * @description The use at which emergency mode starts by itself.
             */
            emergency_threshold?: number | null;
            /**
             * Format: int64
             * @description How many connections may be open at once, over all nodes.
             */
            max_connections?: number | null;
            /** @description Why it is changed, for those who read it later. */
            reason?: string | null;
        };
        /** @description What became of an application's demand, and what would have. */
        Comparison: {
            /** @description Which application. */
            app_id: string;
            /** @description Under the policies of today. */
            before: components["schemas"]["Played"];
            /** @description Under the policy that is tried. */
            after: components["schemas"]["Played"];
        };
        /** @description An open connection of this node. */
        Connection: {
            /**
             * Format: int64
             * @description Its number on this node.
             */
            id: number;
            /** @description Its application. */
            app_id: string;
            /** @description Its cluster. */
            cluster: string;
            /** @description Where it comes from. */
            client_ip: string;
            /**
             * Format: int64
             * @description When it was opened, in milliseconds since 1970.
             */
            created_at: number;
            /**
             * Format: int64
             * @description When it was last seen.
             */
            last_seen: number;
            /** @description What became of it. */
            status: string;
        };
        /** @description Connections counted. */
        ConnectionCounts: {
            /**
             * Format: int64
             * @description Open now, on a slot.
             */
            active: number;
            /**
             * Format: int64
             * @description Slots that are held.
             */
            held: number;
            /**
             * Format: int64
             * @description Open now without a slot, since the ledger could not be asked.
             */
            untracked: number;
            /**
             * Format: int64
             * @description The most that were open at once.
             */
            peak: number;
            /**
             * Format: int64
             * @description Opened so far.
             */
            opened: number;
            /**
             * Format: int64
             * @description Refused so far.
             */
            rejected: number;
            /**
             * Format: int64
             * @description Never released by their holder, so far.
             */
            leaked: number;
        };
        /** @description Something that happened to connections. */
        ConnectionEvent: {
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description On which node. */
            node: string;
            /** @description What. */
            kind: string;
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
            /** @description From where, if it was one client. */
            client_ip?: string | null;
        };
        /** @description How many connections an application may have. */
        ConnectionLimits: {
            /**
             * Format: int64
             * @description At any time.
             */
            max_connections: number;
            /**
             * Format: int64
             * @description While the cluster has room; at least as many, and as many if it is left out.
             */
            burst_connections?: number | null;
            /** @description Why it is changed, for those who read it later. */
            reason?: string | null;
        };
        /** @description How connections went, on this node. */
        ConnectionMetrics: {
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: int32
             * @description Seconds of a point.
             */
            step: number;
            /** @description How they stand. */
            now: components["schemas"]["ConnectionSummary"];
            /** @description The points, the earliest first. */
            points: components["schemas"]["ConnectionPoint"][];
        };
        /** @description Connections in one step. */
        ConnectionPoint: {
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: double
             * @description Open at its end.
             */
            active: number;
            /**
             * Format: double
             * @description Refused in it.
             */
            rejected: number;
            /**
             * Format: double
             * @description Never released by their holder, in it.
             */
            leaked: number;
        };
        /** @description Connections of all nodes, as they last told. */
        ConnectionStats: {
            /** @description Over all nodes. */
            totals: components["schemas"]["ConnectionCounts"];
            /** @description Node by node. */
            nodes: components["schemas"]["NodeConnections"][];
            /** @description Application by application, with their limits. */
            apps: components["schemas"]["AppConnections"][];
        };
        /** @description Connections of this node. */
        ConnectionSummary: {
            /**
             * Format: int64
             * @description Open now.
             */
            active: number;
            /**
             * Format: int64
             * @description The most that were open at once.
             */
            peak: number;
            /**
             * Format: int64
             * @description Refused in the last hour.
             */
            rejected_1h: number;
            /**
             * Format: int64
             * @description Never released by their holder, in the last hour.
             */
            leaked_1h: number;
        };
        /** @description What requests cost, as far as it differs from what holds for all. */
        CostDocument: {
            /**
             * Format: int64
             * @description Bytes in one unit of bandwidth.
             */
            quantum_bytes?: number;
            /**
             * Format: double
             * @description Tokens for one unit.
             */
            bandwidth_coefficient?: number;
            /** @description Tokens for an operation: `GET`, `PUT`, `LIST` and so on. */
            base?: {
                [key: string]: number;
            };
        };
        /** @description What a request costs, and how that was found. */
        CostWorking: {
            /**
             * Format: int64
             * @description Tokens in all.
             */
            total: number;
            /** @description The operation. */
            operation: string;
            /**
             * Format: int64
             * @description Tokens for the operation.
             */
            base: number;
            /**
             * Format: int64
             * @description Tokens for the bandwidth.
             */
            bandwidth: number;
            /**
             * Format: int64
             * @description Units of bandwidth.
             */
            units: number;
            /**
             * Format: int64
             * @description Bytes.
             */
            bytes: number;
        };
        /** @description An alert on the first page. */
        DashboardAlert: {
            /** @description Its name. */
            id: string;
            /** @description `info`, `warning` or `critical`. */
            severity: string;
            /** @description What is the matter. */
            message: string;
            /**
             * Format: int64
             * @description When it was raised, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description Whether somebody has seen it. */
            acknowledged: boolean;
        };
        /** @description What the first page of a console shows. */
        DashboardData: {
            /** @description The numbers on top. */
            overview: components["schemas"]["Overview"];
            /** @description How things went. */
            metrics: components["schemas"]["DashboardMetrics"];
            /** @description The busiest applications of the last hour. */
            top_apps: components["schemas"]["TopApp"][];
            /** @description Alerts that are open, the latest first. */
            alerts: components["schemas"]["DashboardAlert"][];
            /** @description How the ledger is doing. */
            redis_health: components["schemas"]["RedisHealth"];
        };
        /** @description How things went. */
        DashboardMetrics: {
            /**
             * Format: int32
             * @description Seconds of a point.
             */
            step: number;
            /** @description Requests, cost and refusals over time. */
            request_rate: components["schemas"]["RatePoint"][];
            /** @description What requests cost, by operation, in this range. */
            cost_distribution: components["schemas"]["OperationShare"][];
            /** @description What each tier has. */
            token_availability: components["schemas"]["TokenAvailability"];
            /** @description Connections of this node. */
            connection_stats: components["schemas"]["ConnectionSummary"];
        };
        /** @description An emergency to end. */
        DeactivateEmergency: {
            /** @description Where; may be left out where there is only one cluster. */
            cluster_id?: string | null;
        };
        /** @description A decision, with everything a person may ask about it. */
        Decision: {
            /** @description Its name. */
            id: string;
            /**
             * Format: int64
             * @description When it was made, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description The application, as the request named it. */
            app_id: string;
            /** @description Whether the request passed. */
            verdict: components["schemas"]["VerdictName"];
            /** @description Why it was refused, or would have been. */
            reason?: string | null;
            /** @description The tier that had the last word: `l3`, `l2`, `l1` or `fallback`. */
            tier: string;
            /** @description The tiers it went through, in order. */
            trace: components["schemas"]["TraceStep"][];
            /** @description What it costs, and how that was found. */
            cost: components["schemas"]["CostWorking"];
            /**
             * Format: int64
             * @description What the application may have at once, in tokens.
             */
            limit: number;
            /**
             * Format: int64
             * @description What it had left.
             */
            remaining: number;
            /**
             * Format: int64
             * @description When to come back, in milliseconds; none if waiting does not help.
             */
            retry_after_ms?: number | null;
            /**
             * Format: int64
             * @description How long until it has its limit again, in milliseconds.
             */
            reset_after_ms: number;
            /**
             * Format: int64
             * @description The version of the policy that was applied.
             */
            policy_version: number;
        };
        /** @description Decisions that were kept. */
        Decisions: {
            /** @description The latest first. */
            data: components["schemas"]["Decision"][];
        };
        /** @description The nodes whose demand was played. What was asked of the others is missing, as if it had not happened. */
        DemandOf: {
            /** @description This node, and those whose history is in the same database: up to some minutes ago. */
            nodes: string[];
            /**
             * Format: int64
             * @description How many nodes there are.
             */
            of: number;
        };
        /** @description One difference. */
        Difference: {
            /** @description `app` or `cluster`. */
            kind: string;
            /** @description Which one. */
            id: string;
            /** @description Which of its fields, like `cost.base.GET`; empty if it came or went as a whole. */
            field: string;
            /** @description What it was: anything, null if it was not there. */
            before: unknown;
            /** @description What it is: anything, null if it is gone. */
            after: unknown;
        };
        /** @description What changed from one version to another. */
        Differences: {
            /**
             * Format: int64
             * @description The earlier version.
             */
            from: number;
            /**
             * Format: int64
             * @description The later version.
             */
            to: number;
            /** @description What changed, field by field. */
            changes: components["schemas"]["Difference"][];
        };
        /**
         * @description Who started an emergency.
         * @enum {string}
         */
        EmergencyCause: "operator" | "usage";
        /** @description What an emergency leaves to the applications of one priority. */
        EmergencyEffect: {
            /**
             * Format: int32
             * @description The priority.
             */
            priority: number;
            /**
             * Format: double
             * @description The share of their guarantees that stays in force.
             */
            ratio: number;
            /**
             * Format: int64
             * @description How many applications have it.
             */
            apps: number;
            /**
             * Format: int64
             * @description What they are guaranteed together, in tokens per second.
             */
            guaranteed: number;
            /**
             * Format: int64
             * @description What is left of that.
             */
            in_force: number;
        };
        /** @description Whether there is an emergency, cluster by cluster. */
        EmergencyStatus: {
            /** @description Whether any cluster is in emergency mode. */
            active: boolean;
            /** @description The clusters. */
            clusters: components["schemas"]["ClusterEmergency"][];
        };
        /** @description Something that happened. */
        Event: {
            /** @description What kind of thing. */
            type: components["schemas"]["EventKind"];
            /** @description What exactly; its shape follows from the kind. */
            data: unknown;
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
        };
        /**
         * @description The kinds of events.
         * @enum {string}
         */
        EventKind: "metrics" | "alert" | "config_change" | "emergency" | "refusals";
        /** @description All policies, to be kept in a file and imported again. */
        Export: {
            /** @description What the clusters can stand, by name, as a configuration file has it. */
            clusters: components["schemas"]["ExportedCluster"][];
            /** @description The applications, by name, as a configuration file has them. */
            apps: components["schemas"]["ExportedApp"][];
        };
        /** @description An application as a configuration file has it. */
        ExportedApp: Record<string, never> & {
            /** @description Its name. */
            id: string;
        };
        /** @description A cluster as a configuration file has it. */
        ExportedCluster: components["schemas"]["ClusterDocument"] & {
            /** @description Its name. */
            id: string;
        };
        /** @description What is wrong with one field. */
        FieldError: {
            /** @description Which field, like `cost.base.GET`; empty for the body as a whole. */
            path: string;
            /** @description What kind of mistake it is, for programs. */
            kind: string;
            /** @description What kind of mistake it is, for people. */
            message: string;
            /** @description The value as it was sent, shortened. */
            value?: string | null;
            /** @description What would be accepted. */
            expected?: string | null;
        };
        /**
         * @description How something is doing.
         * @enum {string}
         */
        Health: "normal" | "warning" | "critical";
        /** @description Policies to be set. */
        Import: {
            /** @description The applications, as they are exported or written in a configuration file. */
            apps: Record<string, never>[];
            /**
             * @description What clusters can stand, as it is exported or written in a configuration file. What is left out stays as it is; a cluster
             *     is never added or removed. Changing one needs the role `admin`.
             */
            clusters?: Record<string, never>[] | null;
            /**
             * @description Whether applications that are not named are removed.
             * @default false
             */
            prune: boolean | null;
            /**
             * @description Whether only to tell what would change.
             * @default false
             */
            dry_run: boolean | null;
            /** @description Why it is changed. */
            reason?: string | null;
        };
        /** @description What an import changed, or would. */
        Imported: {
            /**
             * Format: int64
             * @description The version that has it; none if nothing changed or nothing was to.
             */
            version?: number | null;
            /** @description What changed, field by field. */
            changes: components["schemas"]["Difference"][];
            /** @description Changes that were scheduled for what is set here, and that this takes back. */
            unscheduled: components["schemas"]["Unscheduled"][];
        };
        /** @description The buckets of all applications. */
        L2Stats: {
            /**
             * Format: int64
             * @description How many applications there are.
             */
            apps: number;
            /**
             * Format: int64
             * @description Tokens in their buckets.
             */
            tokens: number;
            /**
             * Format: int64
             * @description The most that there may be.
             */
            burst: number;
            /**
             * Format: int64
             * @description Tokens out on lease to nodes.
             */
            leased: number;
            /**
             * Format: int64
             * @description What they owe.
             */
            debt: number;
        };
        /**
         * @description How a ledger is doing, in a word.
         * @enum {string}
         */
        LedgerStatus: "healthy" | "degraded" | "down";
        /** @description What was borrowed, and how the application stands. */
        Lent: components["schemas"]["LoanStanding"] & {
            /**
             * Format: int64
             * @description The debt that it made: a fifth more than was borrowed.
             */
            owed: number;
        };
        /** @description A page of a list. */
        Listed_Alert: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name. */
                id: string;
                /** @description The rule that raised it. */
                rule: string;
                /** @description What it is about: an application, a cluster or a node. */
                subject: string;
                /** @description `info`, `warning` or `critical`. */
                severity: string;
                /** @description What is the matter. */
                message: string;
                /**
                 * Format: double
                 * @description The number that the rule looked at, as of last.
                 */
                value: number;
                /**
                 * Format: int64
                 * @description When it was raised, in milliseconds since 1970.
                 */
                timestamp: number;
                /**
                 * Format: int64
                 * @description When it was last seen.
                 */
                last_seen: number;
                /** @description Whether somebody has seen it. */
                acknowledged: boolean;
                /**
                 * Format: int64
                 * @description When.
                 */
                acknowledged_at?: number | null;
                /** @description Who. */
                acknowledged_by?: string | null;
                /**
                 * Format: int64
                 * @description When it was over, if it is.
                 */
                resolved_at?: number | null;
                /** @description The node that sees it, and says when it is over. */
                node: string;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_App: {
            /** @description The entries of this page. */
            data: (components["schemas"]["PolicyDocument"] & {
                /**
                 * Format: int64
                 * @description The version of its policy, which is also its entity tag; 0 if it is only scheduled to be added.
                 */
                version: number;
                /**
                 * @description How it is doing: `critical` if more than half of its requests of the last minutes were refused, `warning` if some
                 *     were, if it is in debt, or if it is switched off.
                 */
                status: components["schemas"]["Health"];
                /** @description What it has in the ledger. */
                state: components["schemas"]["AppState"];
                /** @description What it did in the last second, on this node. */
                activity: components["schemas"]["Activity"];
                pending?: components["schemas"]["Pending"] | null;
            })[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_AuditEntry: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name; later ones sort behind earlier ones. */
                id: string;
                /**
                 * Format: int64
                 * @description When, in milliseconds since 1970.
                 */
                timestamp: number;
                /** @description Who. */
                actor: string;
                /** @description `user`, `token` or `system`. */
                actor_kind: string;
                /** @description From where. */
                ip: string;
                /** @description What, like `app.update`. */
                action: string;
                /** @description To what. */
                target: string;
                /** @description What it was before. */
                before?: Record<string, never> | null;
                /** @description What it is after. */
                after?: Record<string, never> | null;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Cluster: {
            /** @description The entries of this page. */
            data: (components["schemas"]["ClusterDocument"] & {
                /** @description Its name. */
                cluster_id: string;
                /**
                 * Format: int64
                 * @description The version of its policies.
                 */
                version: number;
                /**
                 * Format: int64
                 * @description Another one whenever the ledger finds that it has lost something.
                 */
                epoch: number;
                /**
                 * Format: int64
                 * @description What all guarantees add up to, in tokens per second.
                 */
                promised: number;
                /**
                 * Format: int64
                 * @description The most that they may add up to.
                 */
                promisable: number;
                /**
                 * Format: int64
                 * @description Headroom for anybody, in tokens.
                 */
                available: number;
                /**
                 * Format: double
                 * @description The share of the capacity that was granted over the last second.
                 */
                usage: number;
                /**
                 * Format: double
                 * @description How much overload cuts of allocations above the guarantee.
                 */
                overload_cut: number;
                /** @description Whether it is in emergency mode. */
                emergency: boolean;
                /**
                 * Format: int64
                 * @description How many applications it has.
                 */
                apps: number;
                /**
                 * Format: int64
                 * @description How many nodes are heard of.
                 */
                nodes: number;
                /**
                 * Format: int64
                 * @description How many nodes fell silent and are still remembered.
                 */
                silent_nodes: number;
            })[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Connection: {
            /** @description The entries of this page. */
            data: {
                /**
                 * Format: int64
                 * @description Its number on this node.
                 */
                id: number;
                /** @description Its application. */
                app_id: string;
                /** @description Its cluster. */
                cluster: string;
                /** @description Where it comes from. */
                client_ip: string;
                /**
                 * Format: int64
                 * @description When it was opened, in milliseconds since 1970.
                 */
                created_at: number;
                /**
                 * Format: int64
                 * @description When it was last seen.
                 */
                last_seen: number;
                /** @description What became of it. */
                status: string;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_ConnectionEvent: {
            /** @description The entries of this page. */
            data: {
                /**
                 * Format: int64
                 * @description When, in milliseconds since 1970.
                 */
                timestamp: number;
                /** @description On which node. */
                node: string;
                /** @description What. */
                kind: string;
                /**
                 * Format: int64
                 * @description How often.
                 */
                count: number;
                /** @description From where, if it was one client. */
                client_ip?: string | null;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_NodeReport: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name. */
                node: string;
                /**
                 * Format: int64
                 * @description When it said so, in milliseconds since 1970.
                 */
                timestamp: number;
                /**
                 * Format: int64
                 * @description Requests that passed in the last second.
                 */
                requests: number;
                /**
                 * Format: int64
                 * @description Requests that were refused in the last second.
                 */
                refused: number;
                /**
                 * Format: int64
                 * @description Tokens that it holds.
                 */
                held: number;
                /**
                 * Format: int64
                 * @description Its open connections.
                 */
                connections: number;
                /** @description How it stands with the ledger of each cluster. */
                clusters: {
                    [key: string]: components["schemas"]["NodeCluster"];
                };
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_PastEmergency: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name. */
                id: string;
                /** @description Where it was. */
                cluster_id: string;
                /** @description `operator` or `usage`. */
                cause: string;
                /** @description Why. */
                reason: string;
                /** @description Who declared it; empty if nobody did. */
                actor: string;
                /**
                 * Format: int64
                 * @description When it started, in milliseconds since 1970.
                 */
                started_at: number;
                /**
                 * Format: int64
                 * @description When it was to end.
                 */
                until: number;
                /**
                 * Format: int64
                 * @description When it ended, if it has.
                 */
                ended_at?: number | null;
                /** @description Who ended it, or `expired`, or `recovered`. */
                ended_by?: string | null;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Rule: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name. */
                id: string;
                /** @description What it looks at. */
                description: string;
                /** @description Whether it raises alerts. */
                enabled: boolean;
                /**
                 * Format: double
                 * @description The number at which it does.
                 */
                threshold: number;
                /** @description Whether it does below that number, and not above. */
                below: boolean;
                /**
                 * Format: int32
                 * @description For how many seconds it must be so.
                 */
                for_s: number;
                /** @description How bad it is. */
                severity: components["schemas"]["Severity"];
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Token: {
            /** @description The entries of this page. */
            data: {
                /** @description What it is revoked by. */
                id: string;
                /** @description What it is for. */
                name: string;
                /** @description What it may do. */
                role: components["schemas"]["Role"];
                /** @description Who made it. */
                created_by: string;
                /**
                 * Format: int64
                 * @description When, in milliseconds since 1970.
                 */
                created_at: number;
                /**
                 * Format: int64
                 * @description Until when it is good.
                 */
                expires_at: number;
                /**
                 * Format: int64
                 * @description When it was last used, to the minute.
                 */
                last_used_at?: number | null;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_User: {
            /** @description The entries of this page. */
            data: {
                /** @description Its name. */
                username: string;
                /** @description What it may do. */
                role: components["schemas"]["Role"];
                /** @description Whether it can be used. */
                enabled: boolean;
                /** @description Whether its password has to be changed before anything else. */
                must_change_password: boolean;
                /**
                 * Format: int64
                 * @description When it was made, in milliseconds since 1970.
                 */
                created_at: number;
                /**
                 * Format: int64
                 * @description When it was last used to log in.
                 */
                last_login_at?: number | null;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Version: {
            /** @description The entries of this page. */
            data: {
                /**
                 * Format: int64
                 * @description Its number.
                 */
                version: number;
                /**
                 * Format: int64
                 * @description When it was made, in milliseconds since 1970.
                 */
                timestamp: number;
                /** @description Who made it. */
                author: string;
                /** @description Why. */
                reason: string;
                /** @description `found`, `create`, `update`, `delete`, `import`, `rollback` or `cluster`. */
                kind: string;
                /**
                 * Format: int64
                 * @description When it takes effect, if that was in the future.
                 */
                effective_time?: number | null;
                /** @description What changed. */
                changes: components["schemas"]["Change"][];
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description A page of a list. */
        Listed_Webhook: {
            /** @description The entries of this page. */
            data: {
                /** @description What it is removed by. */
                id: string;
                /** @description Where. */
                url: string;
                /** @description Whether anything is sent there. */
                enabled: boolean;
                /**
                 * Format: int64
                 * @description When it was added, in milliseconds since 1970.
                 */
                created_at: number;
            }[];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
            /**
             * Format: int32
             * @description The number of this page, from 1.
             */
            page: number;
            /**
             * Format: int32
             * @description The most entries of a page.
             */
            limit: number;
        };
        /** @description How much to borrow or to pay back. */
        LoanInput: {
            /**
             * Format: int64
             * @description In tokens.
             */
            amount: number;
        };
        /** @description What an application owes, and what it has. */
        LoanStanding: {
            /**
             * Format: int64
             * @description What it has borrowed in all.
             */
            borrowed: number;
            /**
             * Format: int64
             * @description What it owes in all, interest included.
             */
            debt: number;
            /**
             * Format: int64
             * @description What is in its bucket.
             */
            tokens: number;
        };
        /** @description Who logs in. */
        Login: {
            /** @description The account. */
            username: string;
            /** @description Its password. */
            password: string;
        };
        /** @description Who is calling. */
        Me: {
            /** @description The name. */
            username: string;
            /** @description What they may do. */
            role: components["schemas"]["Role"];
            /** @description Whether the password has to be changed before anything else. */
            must_change_password: boolean;
        };
        /** @description How things went on this node, and how the ledger stands. */
        Metrics: {
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: int32
             * @description Seconds of a point.
             */
            step: number;
            /**
             * Format: int64
             * @description Headroom for anybody, in tokens, over all clusters.
             */
            l1_available: number;
            /** @description The buckets of all applications. */
            l2_stats: components["schemas"]["L2Stats"];
            /**
             * Format: double
             * @description The share of requests that this node decided by itself, in this range.
             */
            l3_cache_hit_ratio: number;
            /** @description Requests, cost and refusals over time. */
            request_rate: components["schemas"]["RatePoint"][];
            /** @description Tokens of each tier over time. */
            tokens: components["schemas"]["TokenPoint"][];
            /** @description What requests cost, by operation, in this range. */
            cost_distribution: components["schemas"]["OperationShare"][];
            /** @description Connections of this node. */
            connection_stats: components["schemas"]["ConnectionSummary"];
            /** @description Whether any cluster is in emergency mode. */
            emergency_mode: boolean;
            /**
             * Format: double
             * @description What half of this node's calls to the ledger of the last minutes stayed under, in milliseconds.
             */
            redis_latency: number;
        };
        /** @description A new application. */
        NewApp: {
            /** @description Its name. */
            app_id: string;
            /**
             * Format: int64
             * @description Tokens per second that it can always count on. All of a cluster's add up to at most 90 % of its capacity.
             */
            guaranteed_quota: number;
            /**
             * Format: int64
             * @description The most tokens that it may save; at least the guarantee.
             */
            burst_quota: number;
            /** @description The cluster it runs on; may be left out where there is only one, and cannot be changed. */
            cluster?: string | null;
            /**
             * Format: int64
             * @description How often the burst allowance starts anew, in seconds.
             * @default 60
             */
            burst_duration_s: number | null;
            /**
             * Format: int32
             * @description 0 matters most, 3 least.
             * @default 2
             */
            priority: number | null;
            /**
             * Format: int64
             * @description The most tokens that it may owe.
             * @default 10000
             */
            max_borrow: number | null;
            /**
             * @description Whether it borrows by itself when nothing else is left.
             * @default true
             */
            borrow: boolean | null;
            /**
             * Format: double
             * @description The share of its refill that goes into paying back, with at most 4 decimals.
             * @default 0.5
             */
            repay_share: number | null;
            /**
             * @description Whether it may pass at all.
             * @default true
             */
            enabled: boolean | null;
            /**
             * @description Whether decisions are made and counted, but not enforced.
             * @default false
             */
            shadow: boolean | null;
            /**
             * @description Whether the bytes of responses are charged too.
             * @default false
             */
            charge_response: boolean | null;
            outage?: components["schemas"]["OutageMode"] | null;
            /**
             * Format: int64
             * @description Tokens per second and node that pass then.
             */
            fail_open_tokens?: number | null;
            /**
             * Format: double
             * @description Or the share of what the node had that passes then, with at most 4 decimals.
             */
            fallback_ratio?: number | null;
            /**
             * Format: int64
             * @description Connections at any time.
             * @default 1000
             */
            max_connections: number | null;
            /**
             * Format: int64
             * @description Connections while the cluster has room; at least as many.
             */
            burst_connections?: number | null;
            cost?: components["schemas"]["CostDocument"] | null;
            /** @description Why it is changed, for those who read it later. */
            reason?: string | null;
            /**
             * Format: int64
             * @description When it shall take effect, in milliseconds since 1970; at once if that has passed or is left out.
             */
            effective_time?: number | null;
            carry?: components["schemas"]["CarryInput"] | null;
        };
        /** @description A new password. */
        NewPassword: {
            /** @description The password until now. */
            current: string;
            /** @description The password from now on: 12 characters or more, and another one. */
            new: string;
        };
        /** @description A new token. */
        NewToken: {
            /** @description What it is for. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /**
             * Format: int64
             * @description For how many days it is good.
             * @default 90
             */
            expires_in_days: number | null;
        };
        /** @description A new account. */
        NewUser: {
            /** @description Its name. */
            username: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /** @description Its first password, which has to be changed; a random one is made and told once if it is left out. */
            password?: string | null;
        };
        /** @description A new place that alerts are sent to. */
        NewWebhook: {
            /** @description Where: `http://` or `https://`. Private addresses are refused unless the settings allow them. */
            url: string;
        };
        /** @description How a node stands with the ledger of a cluster. */
        NodeCluster: {
            /** @description How well the ledger can be reached: `normal`, `mild`, `significant` or `fail_open`. */
            level: string;
            /** @description Whether the node decides by itself just now. */
            cut_off: boolean;
            /**
             * Format: int64
             * @description The version of the policies that it applies.
             */
            version: number;
            /**
             * Format: int64
             * @description The epoch of the ledger that it knows.
             */
            epoch: number;
            /**
             * Format: int64
             * @description Applications that it holds tokens for.
             */
            leases: number;
            /**
             * Format: double
             * @description How long the ledger's last answer took, in milliseconds.
             */
            latency_ms: number;
            /**
             * Format: int64
             * @description Calls to the ledger so far.
             */
            calls: number;
            /**
             * Format: int64
             * @description Calls that failed.
             */
            failed_calls: number;
        };
        /** @description Connections of one node. */
        NodeConnections: {
            /** @description Which node. */
            node: string;
            /** @description Of which cluster. */
            cluster: string;
            /**
             * Format: int64
             * @description When it told, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description Over all its applications. */
            totals: components["schemas"]["ConnectionCounts"];
        };
        /** @description The nodes that are known here. */
        Nodes: components["schemas"]["Listed_NodeReport"] & {
            /**
             * Format: int64
             * @description How many nodes the ledger hears of, in the largest cluster; there may be more than tell how they are doing.
             */
            heard: number;
        };
        /** @description What was spent on one operation. */
        OperationShare: {
            /** @description Which operation. */
            operation: string;
            /**
             * Format: double
             * @description How many requests.
             */
            requests: number;
            /**
             * Format: double
             * @description What they cost, in tokens.
             */
            cost: number;
        };
        /** @description What was spent on one operation. */
        OperationUse: {
            /**
             * Format: int64
             * @description How many requests.
             */
            requests: number;
            /**
             * Format: int64
             * @description What they cost, in tokens.
             */
            cost: number;
        };
        /**
         * @description What passes while the ledger is out of reach.
         * @enum {string}
         */
        OutageMode: "limited" | "closed";
        /** @description The numbers on top. */
        Overview: {
            /**
             * Format: int64
             * @description Applications in all.
             */
            total_apps: number;
            /**
             * Format: int64
             * @description Applications that did something in the last hour.
             */
            active_apps: number;
            /**
             * Format: int64
             * @description Requests that passed in the last hour, on this node.
             */
            total_requests_1h: number;
            /**
             * Format: int64
             * @description What they cost, in tokens.
             */
            total_cost_1h: number;
            /**
             * Format: int64
             * @description Requests that were refused in the last hour, on this node.
             */
            total_refused_1h: number;
            /**
             * Format: double
             * @description Headroom for anybody, as a share of the capacity.
             */
            l1_available_ratio: number;
            /** @description Whether any cluster is in emergency mode. */
            emergency_mode: boolean;
            /** @description What happened in the last second. */
            now: components["schemas"]["Activity"];
        };
        /** @description An emergency, over or not. */
        PastEmergency: {
            /** @description Its name. */
            id: string;
            /** @description Where it was. */
            cluster_id: string;
            /** @description `operator` or `usage`. */
            cause: string;
            /** @description Why. */
            reason: string;
            /** @description Who declared it; empty if nobody did. */
            actor: string;
            /**
             * Format: int64
             * @description When it started, in milliseconds since 1970.
             */
            started_at: number;
            /**
             * Format: int64
             * @description When it was to end.
             */
            until: number;
            /**
             * Format: int64
             * @description When it ended, if it has.
             */
            ended_at?: number | null;
            /** @description Who ended it, or `expired`, or `recovered`. */
            ended_by?: string | null;
        };
        /** @description A change that is scheduled. */
        Pending: {
            /**
             * Format: int64
             * @description When it takes effect, in milliseconds since 1970.
             */
            effective_time: number;
            /** @description The application as it will be. */
            policy: components["schemas"]["PolicyDocument"];
        };
        /** @description What became of an application's demand. */
        Played: {
            /**
             * Format: int64
             * @description Tokens that were asked for.
             */
            demanded: number;
            /**
             * Format: int64
             * @description Tokens that were had.
             */
            granted: number;
            /**
             * Format: int64
             * @description Tokens that were refused.
             */
            refused: number;
            /**
             * Format: double
             * @description The share that was refused.
             */
            refused_ratio: number;
            /**
             * Format: int64
             * @description Seconds in which something was refused.
             */
            dry_seconds: number;
        };
        /** @description What an application was promised and how it is treated. */
        PolicyDocument: {
            /**
             * @description Its name: 1 to 128 of `A-Z a-z 0-9 _ -`.
             * @example video-service
             */
            app_id: string;
            /**
             * @description The cluster it runs on.
             * @example cluster-01
             */
            cluster: string;
            /**
             * Format: int64
             * @description Tokens per second that it can always count on.
             */
            guaranteed_quota: number;
            /**
             * Format: int64
             * @description The most tokens that it may save; at least the guarantee.
             */
            burst_quota: number;
            /**
             * Format: int64
             * @description How often the burst allowance starts anew, in seconds.
             */
            burst_duration_s: number;
            /**
             * Format: int32
             * @description 0 matters most, 3 least.
             */
            priority: number;
            /**
             * Format: int64
             * @description The most tokens that it may owe.
             */
            max_borrow: number;
            /** @description Whether it borrows by itself when nothing else is left. */
            borrow: boolean;
            /**
             * Format: double
             * @description The share of its refill that goes into paying back.
             */
            repay_share: number;
            /** @description Whether it may pass at all. */
            enabled: boolean;
            /** @description Whether decisions are made and counted, but not enforced. */
            shadow: boolean;
            /** @description Whether the bytes of responses are charged too. */
            charge_response: boolean;
            /** @description What passes while the ledger is out of reach. */
            outage: components["schemas"]["OutageMode"];
            /**
             * Format: int64
             * @description Tokens per second and node that pass then.
             */
            fail_open_tokens?: number;
            /**
             * Format: double
             * @description Or the share of what the node had that passes then.
             */
            fallback_ratio?: number;
            /**
             * Format: int32
             * @description Connections at any time.
             */
            max_connections: number;
            /**
             * Format: int32
             * @description Connections while the cluster has room.
             */
            burst_connections: number;
            /** @description Prices of its own. */
            cost?: components["schemas"]["CostDocument"];
        };
        /** @description What went wrong with a call. */
        Problem: {
            /**
             * @description What kind of problem it is, for programs: `urn:tollgate:problem:` and a code.
             * @example urn:tollgate:problem:config_validation_failed
             */
            type: string;
            /** @description The same for people. */
            title: string;
            /**
             * Format: int32
             * @description The status of the response.
             */
            status: number;
            /** @description What is special about this case. */
            detail?: string | null;
            /** @description Everything that is wrong with the call, field by field. */
            errors?: components["schemas"]["FieldError"][];
            /**
             * Format: int64
             * @description How many tokens the ledger would not have refused.
             */
            available?: number | null;
            /**
             * Format: int64
             * @description Seconds to wait before trying again.
             */
            retry_after?: number | null;
        };
        /**
         * @description How far back to look.
         * @enum {string}
         */
        Range: "5m" | "1h" | "6h" | "24h" | "7d";
        /** @description What happened in one step. */
        RatePoint: {
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: double
             * @description Requests that passed, per second.
             */
            requests: number;
            /**
             * Format: double
             * @description What they cost, in tokens per second.
             */
            cost: number;
            /**
             * Format: double
             * @description Requests that were refused, per second.
             */
            refused: number;
        };
        /** @description Whether the process can do its work. */
        Ready: {
            /** @description Whether it can. */
            ready: boolean;
            /** @description Why not, or what is not quite well. */
            reasons: string[];
            /** @description How each ledger can be reached: `normal`, `mild`, `significant` or `fail_open`. */
            ledgers: {
                [key: string]: string;
            };
            /** @description Whether the database of the control plane answers. */
            database: boolean;
        };
        /** @description What a reconciliation corrected. */
        Reconciled: {
            /** @description By which share each application had drifted that was corrected. */
            corrected: {
                [key: string]: number;
            };
        };
        /** @description How the ledger is doing. */
        RedisHealth: {
            /** @description In a word. */
            status: components["schemas"]["LedgerStatus"];
            /**
             * Format: double
             * @description What half of this node's calls of the last five to ten minutes stayed under, in milliseconds: every call counts, those
             *     too that failed, in steps of some 1.6 times the one before.
             */
            latency_p50: number;
            /**
             * Format: double
             * @description What 95 of 100 stayed under.
             */
            latency_p95: number;
            /**
             * Format: double
             * @description What 99 of 100 stayed under.
             */
            latency_p99: number;
            /**
             * Format: double
             * @description The share of the last second in which a call was under way. There is no pool: a node has one line to each ledger, with
             *     one call at a time on it; of several lines this is the busiest.
             */
            connection_pool_usage: number;
        };
        /** @description What was paid back, and how the application stands. */
        Repaid: components["schemas"]["LoanStanding"] & {
            /**
             * Format: int64
             * @description What was taken from its bucket: as much as was asked for, as far as there was debt and there were tokens.
             */
            paid: number;
            /**
             * Format: int64
             * @description How much of that was borrowed; the rest is interest.
             */
            principal: number;
        };
        /**
         * @description What somebody may do. Each role may do all that the ones before it may.
         * @enum {string}
         */
        Role: "viewer" | "operator" | "admin";
        /** @description Why it is rolled back. */
        Rollback: {
            /** @description Why. */
            reason?: string | null;
        };
        /** @description What going back changed. */
        RolledBack: components["schemas"]["Imported"] & {
            /** @description Changes that were scheduled at that version, replaced before their time came, and not scheduled again by this. */
            not_restored: components["schemas"]["Unscheduled"][];
        };
        /** @description When to raise an alert. */
        Rule: {
            /** @description Its name. */
            id: string;
            /** @description What it looks at. */
            description: string;
            /** @description Whether it raises alerts. */
            enabled: boolean;
            /**
             * Format: double
             * @description The number at which it does.
             */
            threshold: number;
            /** @description Whether it does below that number, and not above. */
            below: boolean;
            /**
             * Format: int32
             * @description For how many seconds it must be so.
             */
            for_s: number;
            /** @description How bad it is. */
            severity: components["schemas"]["Severity"];
        };
        /** @description A rule as it shall be. What is left out stays. */
        RuleInput: {
            /** @description Whether it raises alerts. */
            enabled?: boolean | null;
            /**
             * Format: double
             * @description The number at which it does.
             */
            threshold?: number | null;
            /**
             * Format: int32
             * @description For how many seconds it must be so.
             */
            for_s?: number | null;
            severity?: components["schemas"]["Severity"] | null;
        };
        /** @description A session that was opened, or goes on. */
        SessionOpened: {
            /** @description What to send as `Authorization: Bearer`. To be kept in memory only. */
            access_token: string;
            /** @description Always `Bearer`. */
            token_type: string;
            /**
             * Format: int64
             * @description For how many seconds the access token is good.
             */
            expires_in: number;
            /** @description Whose it is. */
            user: components["schemas"]["Me"];
        };
        /**
         * @description How bad something is.
         * @enum {string}
         */
        Severity: "info" | "warning" | "critical";
        /** @description A ticket for the WebSocket. */
        Ticket: {
            /** @description What to connect with, once: `/api/v1/ws?ticket=...`. */
            ticket: string;
            /**
             * Format: int64
             * @description For how many seconds it is good.
             */
            expires_in: number;
        };
        /** @description Tokens by tier. */
        TierTokens: {
            /**
             * Format: int64
             * @description Headroom for anybody.
             */
            l1: number;
            /**
             * Format: int64
             * @description In the buckets of applications.
             */
            l2: number;
            /**
             * Format: int64
             * @description Out on lease to nodes.
             */
            leased: number;
            /**
             * Format: int64
             * @description Held by this node.
             */
            l3: number;
        };
        /** @description A token for a machine. */
        Token: {
            /** @description What it is revoked by. */
            id: string;
            /** @description What it is for. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /** @description Who made it. */
            created_by: string;
            /**
             * Format: int64
             * @description When, in milliseconds since 1970.
             */
            created_at: number;
            /**
             * Format: int64
             * @description Until when it is good.
             */
            expires_at: number;
            /**
             * Format: int64
             * @description When it was last used, to the minute.
             */
            last_used_at?: number | null;
        };
        /** @description What each tier has. */
        TokenAvailability: {
            /**
             * Format: double
             * @description Headroom for anybody, as a share of the capacity.
             */
            l1: number;
            /**
             * Format: double
             * @description How full the buckets of applications are, taken together.
             */
            l2_avg: number;
            /**
             * Format: double
             * @description The share of requests of the last hour that this node decided by itself.
             */
            l3_cache_hit: number;
            /** @description The numbers behind them, in tokens. */
            tokens: components["schemas"]["TierTokens"];
        };
        /** @description Tokens of each tier. */
        TokenPoint: {
            /**
             * Format: int64
             * @description Since when, in milliseconds since 1970.
             */
            timestamp: number;
            /**
             * Format: double
             * @description Headroom for anybody.
             */
            l1: number;
            /**
             * Format: double
             * @description In the buckets of applications.
             */
            l2: number;
            /**
             * Format: double
             * @description Held by this node.
             */
            l3: number;
            /**
             * Format: double
             * @description The share of the capacity that was granted.
             */
            usage: number;
        };
        /** @description A token with its secret, told this once. */
        TokenWithSecret: components["schemas"]["Token"] & {
            /** @description What to send as `Authorization: Bearer`. */
            secret: string;
        };
        /** @description A busy application. */
        TopApp: {
            /** @description Which application. */
            app_id: string;
            /**
             * Format: int64
             * @description Requests that passed in the last hour.
             */
            requests_1h: number;
            /**
             * Format: int64
             * @description What they cost, in tokens.
             */
            cost_1h: number;
            /**
             * Format: int64
             * @description Requests that were refused in the last hour.
             */
            refused_1h: number;
            /**
             * Format: int64
             * @description Its connections on this node.
             */
            connections: number;
            /** @description How it is doing. */
            status: components["schemas"]["Health"];
        };
        /** @description What one tier did. */
        TraceStep: {
            /** @description Which tier. */
            tier: string;
            /** @description What came of it: `granted`, `passed_on` or `refused`. */
            outcome: string;
        };
        /** @description A change that was scheduled, and is not any more. */
        Unscheduled: {
            /** @description Of which application. */
            app_id: string;
            /**
             * Format: int64
             * @description When it was to take effect, in milliseconds since 1970.
             */
            effective_time: number;
        };
        /** @description An account. */
        User: {
            /** @description Its name. */
            username: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /** @description Whether it can be used. */
            enabled: boolean;
            /** @description Whether its password has to be changed before anything else. */
            must_change_password: boolean;
            /**
             * Format: int64
             * @description When it was made, in milliseconds since 1970.
             */
            created_at: number;
            /**
             * Format: int64
             * @description When it was last used to log in.
             */
            last_login_at?: number | null;
        };
        /** @description What an account may do from now on. What is left out stays. */
        UserInput: {
            role?: components["schemas"]["Role"] | null;
            /** @description Whether it can be used. */
            enabled?: boolean | null;
        };
        /** @description An account with the password that was made for it, told this once. */
        UserWithPassword: components["schemas"]["User"] & {
            /** @description The password, if one was made. */
            password?: string | null;
        };
        /**
         * @description Whether a request passed.
         * @enum {string}
         */
        VerdictName: "allowed" | "refused" | "shadowed";
        /** @description A change of policy with its number. */
        Version: {
            /**
             * Format: int64
             * @description Its number.
             */
            version: number;
            /**
             * Format: int64
             * @description When it was made, in milliseconds since 1970.
             */
            timestamp: number;
            /** @description Who made it. */
            author: string;
            /** @description Why. */
            reason: string;
            /** @description `found`, `create`, `update`, `delete`, `import`, `rollback` or `cluster`. */
            kind: string;
            /**
             * Format: int64
             * @description When it takes effect, if that was in the future.
             */
            effective_time?: number | null;
            /** @description What changed. */
            changes: components["schemas"]["Change"][];
        };
        /** @description A version of the policies, and how far it has got. */
        VersionDetail: components["schemas"]["Version"] & {
            /** @description How many nodes apply it. */
            applied: components["schemas"]["Applied"];
        };
        /** @description A place that alerts are sent to. */
        Webhook: {
            /** @description What it is removed by. */
            id: string;
            /** @description Where. */
            url: string;
            /** @description Whether anything is sent there. */
            enabled: boolean;
            /**
             * Format: int64
             * @description When it was added, in milliseconds since 1970.
             */
            created_at: number;
        };
        /** @description A place with the secret that messages to it are signed with, told this once. */
        WebhookWithSecret: components["schemas"]["Webhook"] & {
            /** @description The key of the HMAC-SHA256 in `X-Tollgate-Signature`. */
            secret: string;
        };
        /** @description A policy to try on recorded demand. */
        WhatIf: {
            /** @description The application as it might be. */
            policy: components["schemas"]["AppInput"];
            range?: components["schemas"]["Range"] | null;
        };
        /** @description What would have been. */
        WhatIfAnswer: {
            /**
             * Format: int64
             * @description Since when demand was played, in milliseconds since 1970.
             */
            from: number;
            /**
             * Format: int64
             * @description Until when.
             */
            until: number;
            /** @description Whose demand that is. */
            demand: components["schemas"]["DemandOf"];
            /**
             * Format: double
             * @description What the same requests of the application would cost under the prices that are tried, as a share of what they did.
             */
            price_ratio: number;
            /** @description The application. */
            app: components["schemas"]["Comparison"];
            /** @description Its neighbours on the cluster that asked this node for most. */
            neighbours: components["schemas"]["Comparison"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
